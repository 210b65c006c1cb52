//! The messages between readlab and its agent, as bytes: `fleet/agent/MESSAGES.md` describes them.
//! How they are sent lives in `agent`.

/// Bytes of the kind and the length.
pub const HEAD_BYTES: usize = 5;

/// The longest body.
pub const BODY_BYTES_MAX: u32 = 256 << 20;

/// By the byte with which a message begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    /// Which rank this is, and of how many.
    Ranks = b'r',
    /// To wait until every rank has asked.
    Barrier = b'w',
    /// The bytes of rank 0, for all.
    Broadcast = b'b',
    /// The bytes of all, for rank 0.
    Gather = b'g',
    /// The offset of this rank's clock from that of rank 0.
    Clocks = b'c',
    /// The end of the job because of an error.
    Abort = b'a',
    End = b'e',
}

/// A message with this body.
///
/// # Panics
/// If the body is longer than [`BODY_BYTES_MAX`].
pub fn message(kind: Kind, body: &[u8]) -> Vec<u8> {
    let length = u32::try_from(body.len()).ok().filter(|&length| length <= BODY_BYTES_MAX);
    let length = length.expect("what ranks tell each other is short");
    [&[kind as u8], &length.to_le_bytes()[..], body].concat()
}

/// The length of the body after this head of an answer; an error in one line if it is no answer to
/// a message of this kind.
pub fn body_bytes(head: [u8; HEAD_BYTES], kind: Kind) -> Result<usize, String> {
    let [found, length @ ..] = head;
    if found != kind as u8 {
        return Err(format!("the answer to {kind:?} is of the kind {:?}", char::from(found)));
    }
    match u32::from_le_bytes(length) {
        length @ 0..=BODY_BYTES_MAX => Ok(length as usize),
        length => Err(format!("the answer to {kind:?} has a body of {length} bytes")),
    }
}

/// What the agent knows of its job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ranks {
    pub rank: u32,
    pub ranks: u32,
    pub library: String,
}

impl Ranks {
    /// From the body of an answer; `None` if it is too short.
    pub fn parse(body: &[u8]) -> Option<Ranks> {
        let (rank, rest) = body.split_first_chunk()?;
        let (ranks, library) = rest.split_first_chunk()?;
        // Some write tabs and many blanks.
        let library = String::from_utf8_lossy(library);
        let library = library.split_whitespace().collect::<Vec<_>>().join(" ");
        Some(Ranks { rank: u32::from_le_bytes(*rank), ranks: u32::from_le_bytes(*ranks), library })
    }
}

/// The bytes of every rank, by rank, from the body of the answer to a gather on rank 0; `None` if
/// the lengths do not fit.
pub fn gathered(body: &[u8], ranks: usize) -> Option<Vec<Vec<u8>>> {
    let (lengths, mut rest) = body.split_at_checked(4 * ranks)?;
    let mut parts = Vec::with_capacity(ranks);
    for length in lengths.as_chunks::<4>().0 {
        let (part, after) = rest.split_at_checked(u32::from_le_bytes(*length) as usize)?;
        parts.push(part.to_vec());
        rest = after;
    }
    rest.is_empty().then_some(parts)
}

/// How one clock differs from another.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ClockOffset {
    /// What is added to this rank's time for that of rank 0.
    pub offset_ns: i64,
    /// How wrong that may be.
    pub bound_ns: i64,
}

impl ClockOffset {
    /// From the body of an answer; `None` if it has another length.
    pub fn parse(body: &[u8]) -> Option<ClockOffset> {
        let (offset, rest) = body.split_first_chunk()?;
        let bound: &[u8; 8] = rest.try_into().ok()?;
        Some(ClockOffset { offset_ns: i64::from_le_bytes(*offset), bound_ns: i64::from_le_bytes(*bound) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The examples of the document, as lines of a direction and bytes.
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
    fn the_examples_of_the_document_are_what_is_sent_and_understood() {
        let sent = [
            message(Kind::Ranks, b""),
            message(Kind::Barrier, b""),
            message(Kind::Broadcast, b"abc"),
            message(Kind::Gather, b"hi"),
            message(Kind::Clocks, &64_u32.to_le_bytes()),
            message(Kind::End, b""),
        ];
        let of = |way| examples().into_iter().filter(move |(to, _)| *to == way).map(|(_, bytes)| bytes);
        assert_eq!(of('>').collect::<Vec<_>>(), sent);
        let bodies: Vec<Vec<u8>> = of('<')
            .zip([Kind::Ranks, Kind::Barrier, Kind::Broadcast, Kind::Gather, Kind::Clocks])
            .map(|(answer, kind)| {
                let (head, body) = answer.split_first_chunk().unwrap();
                assert_eq!(body_bytes(*head, kind), Ok(body.len()));
                body.to_vec()
            })
            .collect();
        let ranks = Ranks { rank: 0, ranks: 2, library: "Open MPI".to_owned() };
        assert_eq!(Ranks::parse(&bodies[0]), Some(ranks));
        assert_eq!(bodies[2], b"abc");
        assert_eq!(gathered(&bodies[3], 2), Some(vec![b"hi".to_vec(), b"HI".to_vec()]));
        assert_eq!(ClockOffset::parse(&bodies[4]), Some(ClockOffset::default()));
    }

    #[test]
    fn an_answer_of_another_kind_or_an_impossible_length_is_an_error_and_torn_bodies_are_nothing() {
        assert!(body_bytes([b'g', 0, 0, 0, 0], Kind::Clocks).unwrap_err().contains("Clocks"));
        assert!(body_bytes([b'g', 0, 0, 0, 255], Kind::Gather).is_err());
        assert_eq!(gathered(&[1, 0, 0, 0], 1), None, "a byte is missing");
        assert_eq!(gathered(&[0, 0, 0, 0, 7], 1), None, "a byte too many");
        assert_eq!((Ranks::parse(&[0; 7]), ClockOffset::parse(&[0; 15])), (None, None));
    }
}
