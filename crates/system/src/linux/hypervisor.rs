//! The hypervisor under this machine, from the processor's flags, Xen and the firmware.

use super::cpu;
use super::kernel_file::line;

/// Names of virtual machines in the firmware.
const KNOWN: [&str; 9] =
    ["QEMU", "KVM", "VMware", "VirtualBox", "innotek", "Xen", "Bochs", "Parallels", "Firecracker"];

/// The name of the hypervisor, `unnamed` where it has none; `None` where the machine is no guest.
pub fn name() -> Option<String> {
    if let Some(kind) = line("/sys/hypervisor/type") {
        return Some(kind);
    }
    let files = ["/sys/class/dmi/id/sys_vendor", "/sys/class/dmi/id/product_name"];
    let firmware = files.into_iter().filter_map(line).collect::<Vec<_>>().join(" ");
    // Where the processor has no flag for guests, as on ARM, the firmware's name shows a guest.
    let is_guest = cpu::is_guest() || KNOWN.iter().any(|name| firmware.contains(name));
    let name = if firmware.is_empty() { "unnamed".to_owned() } else { firmware };
    is_guest.then_some(name)
}
