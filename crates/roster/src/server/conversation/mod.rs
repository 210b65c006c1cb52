//! One connection of the loopback server: requests and their responses, one after another, until
//! one side closes it.

use super::answer::{Delivery, HttpStatus, Sender};
use super::connections::{Connection, RejectReason};
use super::request::{IdleTimeout, Request, Requests};
use super::service::{Decision, Service, file_answer};
use jiff::Timestamp;
use readlab_system::descriptor;
use std::fs::File;
use std::io::{self, Read};
use std::net::{Shutdown, TcpStream};
use std::path::Path;
use std::time::Duration;

/// How long a client may take to send the complete head of a request.
const HEAD_TIMEOUT: Duration = Duration::from_secs(5);

/// How long a client may take to accept the next bytes of the file.
const WRITE_TIMEOUT: Duration = Duration::from_secs(60);

/// How long the server waits for a client that it turns away.
const TURN_AWAY_TIMEOUT: Duration = Duration::from_millis(100);

/// Pause between attempts while no descriptors are available.
const RETRY_PAUSE: Duration = Duration::from_millis(50);

/// Number of attempts to open the file while no descriptors are available.
const OPEN_TRIES_MAX: u32 = 20;

/// Largest number of bytes that are read after the last response, because a client may still be
/// sending.
const UNREAD_BYTES_MAX: u64 = 64 << 10;

/// Answers the requests of a connection; an error ends the connection.
pub(super) fn serve_connection(connection: &Connection, service: &dyn Service) -> io::Result<()> {
    let stream: &TcpStream = &connection.stream;
    // Other users can see the URL on the command line of a reader, so connections of other users
    // are closed.
    if !connection.is_trusted() {
        return Ok(());
    }
    stream.set_nodelay(true)?;
    stream.set_write_timeout(Some(HEAD_TIMEOUT))?;
    let (mut requests, mut sender) = (Requests::new(stream), Sender::new(stream));
    let mut idle_timeout = IdleTimeout::Stranger;
    while let Some(request) = requests.next(HEAD_TIMEOUT, idle_timeout)? {
        let is_last = match service.decide(&request, Timestamp::now()) {
            Decision::Refused(answer) => {
                let how = Delivery { is_head_only: request.is_head(), is_last: true };
                sender.send(service.with_common_fields(answer), how)?;
                true
            }
            allowed => {
                idle_timeout = IdleTimeout::Reader;
                answer_reader(connection, service, &request, &mut sender, allowed)?
            }
        };
        if is_last {
            return close_after_answer(stream);
        }
    }
    Ok(())
}

/// Answers a client that may read the file; returns whether this was the last response.
fn answer_reader(
    connection: &Connection,
    service: &dyn Service,
    request: &Request,
    sender: &mut Sender<'_>,
    allowed: Decision,
) -> io::Result<bool> {
    let claim = connection.become_reader();
    if claim == Err(RejectReason::Ended) {
        return Ok(true);
    }
    // After a request with a body, the beginning of the next request is unknown.
    let is_last = claim.is_err() || request.has_body() || request.ends_connection();
    let open = || open_file(connection, service.file());
    let answer = match allowed {
        _ if claim.is_err() => service.problem_answer(HttpStatus::Busy),
        Decision::Other(answer) | Decision::Refused(answer) => answer,
        _ if request.has_body() => service.problem_answer(HttpStatus::BadRequest),
        Decision::File => file_answer(service, request, open()),
        Decision::OnlyPart => {
            let part = request.clone().with_range("bytes=0-");
            file_answer(service, &part, open()).with_field("x-amz-mp-parts-count", "1")
        }
    };
    connection.stream.set_write_timeout(Some(WRITE_TIMEOUT))?;
    let how = Delivery { is_head_only: request.is_head(), is_last };
    sender.send(service.with_common_fields(answer), how)?;
    connection.become_idle();
    Ok(is_last)
}

/// Rejects a connection for which the server has no room. Other clients wait until this returns.
pub(super) fn turn_away(stream: &TcpStream, service: &dyn Service) {
    // The request is read first, because otherwise the connection would be reset before the client
    // has read the response. Each step may fail.
    let _ = Requests::new(stream).next(TURN_AWAY_TIMEOUT, IdleTimeout::Stranger);
    let _ = stream.set_write_timeout(Some(TURN_AWAY_TIMEOUT)).and_then(|()| {
        let how = Delivery { is_head_only: true, is_last: true };
        Sender::new(stream).send(service.problem_answer(HttpStatus::Busy), how)
    });
    let _ = stream.shutdown(Shutdown::Write);
}

/// Closes a connection so that the client receives the last response; unread bytes would cause a
/// reset.
fn close_after_answer(mut stream: &TcpStream) -> io::Result<()> {
    stream.shutdown(Shutdown::Write)?;
    stream.set_read_timeout(Some(TURN_AWAY_TIMEOUT))?;
    io::copy(&mut Read::take(&mut stream, UNREAD_BYTES_MAX), &mut io::sink()).map(drop)
}

/// Opens the file; if no descriptors are available, closes connections that receive nothing.
fn open_file(connection: &Connection, file: &Path) -> io::Result<File> {
    for _ in 1..OPEN_TRIES_MAX {
        match File::open(file) {
            Err(error) if descriptor::is_exhaustion(&error) => {
                if !connection.make_room() {
                    std::thread::sleep(RETRY_PAUSE);
                }
            }
            opened => return opened,
        }
    }
    File::open(file)
}

#[cfg(test)]
mod tests;
