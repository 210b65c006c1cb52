//! The limit of the link to a server: the speed of the interface on the way to it, as the driver
//! says it. Nothing is measured here.

use readlab_record::{Limit, LimitKind, LimitUnit};
use readlab_system::interface;
use readlab_targets::target::http::RequestVerb;
use readlab_targets::target::web::Remote;
use std::net::ToSocketAddrs;

/// Why the speed is not known.
#[derive(Debug, thiserror::Error)]
pub(super) enum LinkError {
    /// The server has no address.
    #[error("{0}")]
    NoAddress(String),
    #[error("{0}")]
    NoWay(std::io::Error),
    /// The driver does not say it.
    #[error(
        "nothing says how fast {0} is: its driver does not know, as those of virtual machines, or no device is behind it, as in containers"
    )]
    NotSaid(String),
}

/// The limit; `None` for a server on this machine, to which no link leads.
pub(super) fn limit(remote: &Remote, target: usize) -> Result<Option<Limit>, LinkError> {
    let url =
        remote.source.url(RequestVerb::Head).map_err(|error| LinkError::NoAddress(error.to_string()))?;
    let mut addresses = url.address().to_socket_addrs().map_err(LinkError::NoWay)?;
    let address =
        addresses.next().ok_or_else(|| LinkError::NoAddress("its server has no address".to_owned()))?;
    let found = interface::towards(address).map_err(LinkError::NoWay)?;
    if found.is_loopback {
        return Ok(None);
    }
    let bits_per_s = found.bits_per_s.ok_or_else(|| LinkError::NotSaid(found.name.clone()))?;
    Ok(Some(Limit {
        kind: LimitKind::Link,
        name: found.name,
        target,
        state: None,
        trial: None,
        threads: 1,
        unit: LimitUnit::BytesPerSecond,
        value: bits_per_s / 8,
        ci95: None,
        samples: vec![bits_per_s / 8],
        how: "the speed that the driver of the interface says, not measured".to_owned(),
    }))
}
