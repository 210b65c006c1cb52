//! Requests that contenders repeated.

use super::Samples;

/// How often requests were repeated in the readings of a trial, in words; `None` where none was.
pub(super) fn repeated(samples: &Samples) -> Option<String> {
    let with: Vec<u64> = samples.iter().filter_map(|it| it.request.retries).filter(|it| *it > 0).collect();
    let all = with.iter().fold(0_u64, |sum, retries| sum.saturating_add(*retries));
    let requests = if all == 1 { "1 request".to_owned() } else { format!("{all} requests") };
    (!with.is_empty()).then(|| format!("repeated {requests} in {} of {} readings", with.len(), samples.len()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use readlab_model::sample::{RequestMeters, Sample};

    #[test]
    fn readings_with_a_repeated_request_are_counted() {
        let with = |retries| Sample {
            request: RequestMeters { retries, ..RequestMeters::default() },
            ..Sample::default()
        };
        let all = |counts: &[Option<u64>]| repeated(&counts.iter().copied().map(with).collect());
        assert_eq!(all(&[None, Some(0)]), None);
        assert_eq!(all(&[Some(1), Some(0)]).unwrap(), "repeated 1 request in 1 of 2 readings");
        assert_eq!(all(&[Some(1), Some(4), None]).unwrap(), "repeated 5 requests in 2 of 3 readings");
    }
}
