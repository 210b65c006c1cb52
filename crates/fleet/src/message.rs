//! The messages between readlab and its agent, as bytes; `fleet/agent/MESSAGES.md` describes them.
//! `agent` sends them.

/// Length of a message's header: the kind and the length of the body.
pub const HEADER_BYTES: usize = 5;

/// Length of the longest body.
pub const BODY_BYTES_MAX: u32 = 256 << 20;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum MessageKind {
    /// Asks for the number of this rank and the number of ranks.
    Ranks = b'r',
    /// Waits until every rank has sent this message.
    Barrier = b'w',
    /// Sends the bytes of rank 0 to all ranks.
    Broadcast = b'b',
    /// Sends the bytes of all ranks to rank 0.
    Gather = b'g',
    /// Asks for the offset of this rank's clock from that of rank 0.
    Clocks = b'c',
    /// Ends the job because of an error.
    Abort = b'a',
    End = b'e',
}

/// The bytes of a message with this body.
///
/// # Panics
/// If the body is longer than [`BODY_BYTES_MAX`].
pub fn encode_message(kind: MessageKind, body: &[u8]) -> Vec<u8> {
    let length = u32::try_from(body.len()).ok().filter(|&length| length <= BODY_BYTES_MAX);
    let length = length.expect("what ranks tell each other is short");
    [&[kind as u8], &length.to_le_bytes()[..], body].concat()
}

/// Length of the body that follows this header of an answer. An error, in one line, if the header
/// does not answer a message of this kind, or if the body is too long.
pub fn body_size_bytes(head: [u8; HEADER_BYTES], kind: MessageKind) -> Result<usize, String> {
    let [found, length @ ..] = head;
    if found != kind as u8 {
        return Err(format!("the answer to {kind:?} is of the kind {:?}", char::from(found)));
    }
    match u32::from_le_bytes(length) {
        length @ 0..=BODY_BYTES_MAX => Ok(length as usize),
        length => Err(format!("the answer to {kind:?} has a body of {length} bytes")),
    }
}

/// The agent's facts about its job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobFacts {
    pub rank: u32,
    pub rank_count: u32,
    /// Name and version of the MPI library.
    pub mpi_library: String,
}

impl JobFacts {
    /// Parses the body of an answer; `None` if it is too short.
    pub fn parse(body: &[u8]) -> Option<JobFacts> {
        let (rank, rest) = body.split_first_chunk()?;
        let (ranks, library) = rest.split_first_chunk()?;
        // Some MPI libraries write tabs and several blanks.
        let library = String::from_utf8_lossy(library);
        let library = library.split_whitespace().collect::<Vec<_>>().join(" ");
        Some(JobFacts {
            rank: u32::from_le_bytes(*rank),
            rank_count: u32::from_le_bytes(*ranks),
            mpi_library: library,
        })
    }
}

/// The bytes of every rank, by rank, from the body of rank 0's answer to a gather; `None` if the
/// lengths do not match.
pub fn split_gathered(body: &[u8], ranks: usize) -> Option<Vec<Vec<u8>>> {
    let (lengths, mut rest) = body.split_at_checked(4 * ranks)?;
    let mut parts = Vec::with_capacity(ranks);
    for length in lengths.as_chunks::<4>().0 {
        let (part, after) = rest.split_at_checked(u32::from_le_bytes(*length) as usize)?;
        parts.push(part.to_vec());
        rest = after;
    }
    rest.is_empty().then_some(parts)
}

/// The difference of one clock from another.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ClockOffset {
    /// Offset that is added to this rank's time to get the time of rank 0.
    pub offset_ns: i64,
    /// Largest error of the offset.
    pub error_bound_ns: i64,
}

impl ClockOffset {
    /// Parses the body of an answer; `None` if it has another length.
    pub fn parse(body: &[u8]) -> Option<ClockOffset> {
        let (offset, rest) = body.split_first_chunk()?;
        let bound: &[u8; 8] = rest.try_into().ok()?;
        Some(ClockOffset {
            offset_ns: i64::from_le_bytes(*offset),
            error_bound_ns: i64::from_le_bytes(*bound),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The examples of the document, each as its direction (`>` to the agent, `<` from it) and its
    /// bytes.
    fn examples() -> Vec<(char, Vec<u8>)> {
        let document = include_str!("../carried/fleet/agent/MESSAGES.md");
        let lines = document.lines().filter(|line| line.starts_with("> ") || line.starts_with("< "));
        let bytes = |line: &str| {
            let digits: String = line[2..].split_whitespace().collect();
            hex::decode(digits).unwrap()
        };
        lines.map(|line| (line.chars().next().unwrap(), bytes(line))).collect()
    }

    #[test]
    fn the_examples_of_the_document_match_what_is_sent_and_parsed() {
        let sent = [
            encode_message(MessageKind::Ranks, b""),
            encode_message(MessageKind::Barrier, b""),
            encode_message(MessageKind::Broadcast, b"abc"),
            encode_message(MessageKind::Gather, b"hi"),
            encode_message(MessageKind::Clocks, &64_u32.to_le_bytes()),
            encode_message(MessageKind::End, b""),
        ];
        let of = |way| examples().into_iter().filter(move |(to, _)| *to == way).map(|(_, bytes)| bytes);
        assert_eq!(of('>').collect::<Vec<_>>(), sent);
        let bodies: Vec<Vec<u8>> = of('<')
            .zip([
                MessageKind::Ranks,
                MessageKind::Barrier,
                MessageKind::Broadcast,
                MessageKind::Gather,
                MessageKind::Clocks,
            ])
            .map(|(answer, kind)| {
                let (head, body) = answer.split_first_chunk().unwrap();
                assert_eq!(body_size_bytes(*head, kind), Ok(body.len()));
                body.to_vec()
            })
            .collect();
        let ranks = JobFacts { rank: 0, rank_count: 2, mpi_library: "Open MPI".to_owned() };
        assert_eq!(JobFacts::parse(&bodies[0]), Some(ranks));
        assert_eq!(bodies[2], b"abc");
        assert_eq!(split_gathered(&bodies[3], 2), Some(vec![b"hi".to_vec(), b"HI".to_vec()]));
        assert_eq!(ClockOffset::parse(&bodies[4]), Some(ClockOffset::default()));
    }

    #[test]
    fn answers_of_another_kind_or_impossible_length_are_errors_and_incomplete_bodies_do_not_parse() {
        assert!(body_size_bytes([b'g', 0, 0, 0, 0], MessageKind::Clocks).unwrap_err().contains("Clocks"));
        assert!(body_size_bytes([b'g', 0, 0, 0, 255], MessageKind::Gather).is_err());
        assert_eq!(split_gathered(&[1, 0, 0, 0], 1), None, "a byte is missing");
        assert_eq!(split_gathered(&[0, 0, 0, 0, 7], 1), None, "a byte too many");
        assert_eq!((JobFacts::parse(&[0; 7]), ClockOffset::parse(&[0; 15])), (None, None));
    }
}
