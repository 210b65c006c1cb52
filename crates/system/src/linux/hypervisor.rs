//! The hypervisor of this machine, from the flags of the processor, Xen and the firmware.

use super::cpu;
use super::kernel_file::line;

/// Names of hypervisors as the firmware reports them.
const FIRMWARE_NAMES: [&str; 9] =
    ["QEMU", "KVM", "VMware", "VirtualBox", "innotek", "Xen", "Bochs", "Parallels", "Firecracker"];

/// The name of the hypervisor, `unnamed` if it has none; `None` if the machine is not a virtual
/// machine.
pub fn name() -> Option<String> {
    if let Some(kind) = line("/sys/hypervisor/type") {
        return Some(kind);
    }
    let files = ["/sys/class/dmi/id/sys_vendor", "/sys/class/dmi/id/product_name"];
    let firmware = files.into_iter().filter_map(line).collect::<Vec<_>>().join(" ");
    // ARM processors have no flag for virtual machines, so there only the firmware's name shows
    // one.
    let is_guest = cpu::is_guest() || FIRMWARE_NAMES.iter().any(|name| firmware.contains(name));
    let name = if firmware.is_empty() { "unnamed".to_owned() } else { firmware };
    is_guest.then_some(name)
}
