//! What a rank is there for: to read, or to watch the server's cache. Readers come first, so that
//! their numbers are those of the parts and paths that they read.

use super::job::{Job, JobError};
use serde::{Deserialize, Serialize};
use std::num::NonZero;

/// What a rank does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Role {
    /// It takes turns.
    Reader,
    /// It runs on the server, and makes the file cold there.
    Witness,
}

/// How many ranks read.
pub fn readers(job: &Job, own: Role) -> Result<Result<NonZero<u32>, String>, JobError> {
    let all = job.gather(&own)?;
    job.broadcast(all.map(|all| counted(&all)).as_ref())
}

fn counted(roles: &[Role]) -> Result<NonZero<u32>, String> {
    let readers = roles.iter().take_while(|role| **role == Role::Reader).count();
    let witnesses = roles.len() - readers;
    match u32::try_from(readers).ok().and_then(NonZero::new) {
        Some(readers) if witnesses <= 1 => Ok(readers),
        _ => Err("one witness at most, as the last rank: \
                  'mpirun -n 4 readlab fleet race FILE : -n 1 --host SERVER readlab fleet witness PATH'"
            .to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Role::{Reader, Witness};

    #[test]
    fn readers_come_first_and_at_most_one_witness_after_them() {
        let of = |roles: &[Role]| counted(roles).ok().map(NonZero::get);
        assert_eq!(of(&[Reader, Reader]), Some(2));
        assert_eq!(of(&[Reader, Reader, Witness]), Some(2));
        for other in
            [&[Witness][..], &[Witness, Reader], &[Reader, Witness, Reader], &[Reader, Witness, Witness]]
        {
            assert_eq!(of(other), None, "{other:?}");
        }
    }
}
