//! A client's host that is a network namespace, with one link to this one, which carries so much
//! towards the client and no more. The interface there does not know it: the limit is at the other
//! end, as in a real network. Needs root, `ip` and `tc`.

use anyhow::{Context, bail};
use std::net::Ipv4Addr;
use std::process::{Command, Stdio};

/// The namespace; its link is removed with it.
#[derive(Debug)]
pub(crate) struct LimitedLink {
    namespace: String,
}

impl LimitedLink {
    /// The address of this end, in the range for measurements of networks (RFC 2544).
    pub(crate) const SERVER: Ipv4Addr = Ipv4Addr::new(198, 18, 77, 1);
    const CLIENT: Ipv4Addr = Ipv4Addr::new(198, 18, 77, 2);
    /// Of this end.
    const INTERFACE: &str = "readlab-bench";

    /// One that carries bits at this rate, as `tbf` takes it.
    pub(crate) fn make(rate: &str) -> anyhow::Result<LimitedLink> {
        let namespace = format!("readlab-bench-{}", std::process::id());
        ip(&format!("netns add {namespace}"))?;
        let link = LimitedLink { namespace };
        let (own, client, interface) = (LimitedLink::SERVER, LimitedLink::CLIENT, LimitedLink::INTERFACE);
        let namespace = &link.namespace;
        ip(&format!("link add {interface} type veth peer name eth0 netns {namespace}"))?;
        ip(&format!("address add {own}/30 dev {interface}"))?;
        ip(&format!("link set {interface} up"))?;
        ip(&format!("-n {namespace} address add {client}/30 dev eth0"))?;
        ip(&format!("-n {namespace} link set eth0 up"))?;
        ip(&format!("-n {namespace} link set lo up"))?;
        run("tc", &format!("qdisc add dev {interface} root tbf rate {rate} burst 256k latency 50ms"))?;
        Ok(link)
    }

    /// The same command on the client's host.
    pub(crate) fn behind(&self, command: &Command) -> Command {
        let mut behind = Command::new("ip");
        behind.args(["netns", "exec", &self.namespace]).arg(command.get_program()).args(command.get_args());
        behind.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
        behind.stdin(Stdio::null());
        behind
    }
}

impl Drop for LimitedLink {
    fn drop(&mut self) {
        if let Err(error) = ip(&format!("netns delete {}", self.namespace)) {
            eprintln!("left behind: {error:#}");
        }
    }
}

fn ip(words: &str) -> anyhow::Result<()> {
    run("ip", words)
}

fn run(program: &str, words: &str) -> anyhow::Result<()> {
    let done = Command::new(program).args(words.split(' ')).stdin(Stdio::null()).output();
    let done = done.with_context(|| program.to_owned())?;
    if !done.status.success() {
        bail!("{program} {words}: {}", String::from_utf8_lossy(&done.stderr).trim());
    }
    Ok(())
}
