//! Settings of the kernel that affect how files are read and that root may change while the machine
//! runs: finds the files of each setting, and reads and writes its value in words.

use super::block_device::BlockDevice;
use super::kernel_file::{read_line, selected_word};
use super::program::CommandLine;
use super::system_root::SystemRoot;
use readlab_model::target::{TargetFacts, TargetIndex, Targets};
use readlab_model::units::Bytes;
use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum SystemSetting {
    /// The kernel's read-ahead, as set for the file system or, if it has no setting, for the
    /// device.
    ReadAhead,
    /// The I/O scheduler of a device.
    Scheduler,
    TransparentHugePages,
    /// How readily the kernel swaps memory of programs instead of evicting cached files.
    Swappiness,
    /// The governor of the processors' clock frequency.
    CpuGovernor,
}

readlab_model::worded! {
    SystemSetting {
        ReadAhead = "read-ahead",
        Scheduler = "scheduler",
        TransparentHugePages = "transparent-huge-pages",
        Swappiness = "swappiness",
        CpuGovernor = "cpu-governor"
    }
}

/// The files of the kernel that hold a setting. There are several if each device or processor has
/// its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettingFiles {
    setting: SystemSetting,
    files: Vec<PathBuf>,
    /// For each target, the number of the file of its device or file system; empty for a setting of the
    /// whole machine.
    file_indexes_of_targets: Targets<usize>,
}

/// Values of read-ahead that are raced if the user names none.
const READ_AHEAD_VALUES: [&str; 4] = ["32KiB", "128KiB", "1MiB", "8MiB"];

/// Values of swappiness that are raced if the user names none.
const SWAPPINESS_VALUES: [&str; 3] = ["0", "60", "100"];

/// The shell script that writes a value to a file. The launcher, which restores settings after the
/// lab was killed, can only start programs.
const WRITE_SCRIPT: &str = r#"printf %s "$1" >"$2""#;

impl SystemSetting {
    pub const ALL: [SystemSetting; 5] = [
        SystemSetting::ReadAhead,
        SystemSetting::Scheduler,
        SystemSetting::TransparentHugePages,
        SystemSetting::Swappiness,
        SystemSetting::CpuGovernor,
    ];

    /// The text that is written to the kernel's file for a value.
    fn kernel_text(self, value: &str) -> Result<String, String> {
        if self != SystemSetting::ReadAhead {
            return Ok(value.to_owned());
        }
        let bytes = value.parse::<Bytes>().map_err(|error| error.to_string())?;
        match bytes.0.is_multiple_of(1024) {
            true => Ok((bytes.0 / 1024).to_string()),
            false => Err(format!("'{value}' is no number of KiB")),
        }
    }

    /// The value in a line of the kernel's file.
    fn value_in_line(self, line: &str) -> String {
        let kib = line.parse::<u64>().ok().filter(|_| self == SystemSetting::ReadAhead);
        match kib.and_then(|kib| kib.checked_mul(1024)) {
            Some(bytes) => Bytes(bytes).exact_text(),
            None => selected_word(line).to_owned(),
        }
    }
}

impl SettingFiles {
    pub fn find<'a>(
        root: &SystemRoot,
        setting: SystemSetting,
        targets: impl IntoIterator<Item = &'a TargetFacts>,
    ) -> Result<SettingFiles, String> {
        let of_each = |file: fn(&SystemRoot, &TargetFacts) -> Result<PathBuf, String>| {
            targets.into_iter().map(|facts| file(root, facts)).collect::<Result<Vec<PathBuf>, String>>()
        };
        let of_targets = match setting {
            SystemSetting::ReadAhead => of_each(read_ahead_file)?,
            SystemSetting::Scheduler => of_each(|root, facts| queue_file(root, facts, "scheduler"))?,
            SystemSetting::TransparentHugePages | SystemSetting::Swappiness | SystemSetting::CpuGovernor => {
                Vec::new()
            }
        };
        let files: BTreeSet<PathBuf> = match setting {
            SystemSetting::ReadAhead | SystemSetting::Scheduler => of_targets.iter().cloned().collect(),
            SystemSetting::TransparentHugePages => {
                [root.join("sys/kernel/mm/transparent_hugepage/enabled")].into()
            }
            SystemSetting::Swappiness => [root.join("proc/sys/vm/swappiness")].into(),
            SystemSetting::CpuGovernor => governor_files(root),
        };
        match files.iter().find(|file| !file.exists()) {
            Some(file) => Err(format!("{} does not exist", file.display())),
            None if files.is_empty() => Err("this machine does not let it be set".to_owned()),
            None => {
                let files: Vec<PathBuf> = files.into_iter().collect();
                let number = |own: &PathBuf| files.iter().position(|file| file == own);
                let file_indexes_of_targets = of_targets.iter().filter_map(number).collect();
                Ok(SettingFiles { setting, files, file_indexes_of_targets })
            }
        }
    }

    /// The number of the file that holds the setting for a target.
    pub fn file_index_of(&self, target: TargetIndex) -> usize {
        self.file_indexes_of_targets.get(target).copied().unwrap_or(0)
    }

    /// The numbers of the targets that share a file, for each file that several targets share.
    pub fn sharing_targets(&self) -> Vec<Vec<TargetIndex>> {
        let targets_of = |file: usize| -> Vec<TargetIndex> {
            let of_file = self.file_indexes_of_targets.numbered().filter(|(_, own)| **own == file);
            of_file.map(|(target, _)| target).collect()
        };
        (0..self.files.len()).map(targets_of).filter(|targets| targets.len() > 1).collect()
    }

    /// Checks that this user may change the setting, without changing it.
    pub fn check_writable(&self) -> Result<(), String> {
        self.files.iter().try_for_each(|file| {
            fs::File::options().write(true).open(file).map(drop).map_err(|cause| file_error(file, &cause))
        })
    }

    /// The current value of each file. Files of devices or file systems may have different values.
    /// All processors must have the same value, because a trial may run on any of them.
    pub fn read_values(&self) -> Result<Vec<String>, String> {
        let value = |file: &PathBuf| -> Result<String, String> {
            let text = fs::read(file).map_err(|cause| file_error(file, &cause))?;
            Ok(self.setting.value_in_line(String::from_utf8_lossy(&text).trim()))
        };
        let values = self.files.iter().map(value).collect::<Result<Vec<_>, _>>()?;
        if self.file_indexes_of_targets.is_empty() {
            self.single_value(&values)?;
        }
        Ok(values)
    }

    /// The current value, which must be the same in all files.
    pub fn read_value(&self) -> Result<String, String> {
        let values = self.read_values()?;
        self.single_value(&values).cloned()
    }

    fn single_value<'v>(&self, values: &'v [String]) -> Result<&'v String, String> {
        let value = values.first().ok_or("it has no file")?;
        match self.files.iter().zip(values).find(|(_, other)| *other != value) {
            Some((file, other)) => Err(format!(
                "{} has {value} and {} has {other}: there is no single value to restore",
                self.files[0].display(),
                file.display()
            )),
            None => Ok(value),
        }
    }

    /// A list that has this value once for each file.
    pub fn value_for_each_file(&self, value: &str) -> Vec<String> {
        vec![value.to_owned(); self.files.len()]
    }

    /// Writes the value to every file, and continues after a failure. Returns the first failure.
    pub fn write_value(&self, value: &str) -> Result<(), String> {
        self.write_values(&self.value_for_each_file(value))
    }

    /// Writes one value to each file, and continues after a failure. Returns the first failure.
    pub fn write_values(&self, values: &[String]) -> Result<(), String> {
        let texts = self.kernel_texts(values)?;
        let written = self.files.iter().zip(&texts).zip(values).map(|((file, text), value)| {
            let opened = fs::File::options().write(true).truncate(true).open(file);
            let written = opened.and_then(|mut opened| opened.write_all(text.as_bytes()));
            written.map_err(|cause| format!("'{value}': {}", file_error(file, &cause)))
        });
        written.collect::<Vec<Result<(), String>>>().into_iter().collect()
    }

    fn kernel_texts(&self, values: &[String]) -> Result<Vec<String>, String> {
        values.iter().map(|value| self.setting.kernel_text(value)).collect()
    }

    /// The values that the kernel offers for every file; some usual values if the kernel lists
    /// none.
    pub fn offered_values(&self) -> Vec<String> {
        let words = |text: String| -> Vec<String> {
            text.split_ascii_whitespace().map(|word| word.trim_matches(['[', ']']).to_owned()).collect()
        };
        let known =
            |values: &[&str]| -> Vec<String> { values.iter().map(|&value| value.to_owned()).collect() };
        let first = self.files.first();
        match self.setting {
            SystemSetting::ReadAhead => known(&READ_AHEAD_VALUES),
            SystemSetting::Swappiness => known(&SWAPPINESS_VALUES),
            SystemSetting::Scheduler | SystemSetting::TransparentHugePages => {
                let mut offered =
                    self.files.iter().map(|file| read_line(file).map(words).unwrap_or_default());
                let of_first = offered.next().unwrap_or_default();
                offered.fold(of_first, |common, other| {
                    common.into_iter().filter(|value| other.contains(value)).collect()
                })
            }
            SystemSetting::CpuGovernor => {
                let all =
                    first.and_then(|file| read_line(file.with_file_name("scaling_available_governors")));
                all.map(words).unwrap_or_default()
            }
        }
    }

    /// One command for each file, which writes the file's value.
    pub fn commands_to_write(&self, values: &[String]) -> Result<Vec<CommandLine>, String> {
        let command = |(file, text): (&PathBuf, String)| {
            let args = vec!["-c".into(), WRITE_SCRIPT.into(), "sh".into(), text.into(), file.into()];
            CommandLine { program: "sh".into(), args, ..CommandLine::default() }
        };
        Ok(self.files.iter().zip(self.kernel_texts(values)?).map(command).collect())
    }
}

fn file_error(file: &Path, cause: &std::io::Error) -> String {
    format!("{}: {cause}", file.display())
}

/// The read-ahead file of the target's file system, if it has one of its own, else of its device.
fn read_ahead_file(root: &SystemRoot, facts: &TargetFacts) -> Result<PathBuf, String> {
    match &facts.own_read_ahead {
        Some(own) => Ok(own.setting_path.clone().into()),
        None => queue_file(root, facts, "read_ahead_kb"),
    }
}

/// The file of this name in the queue folder of a target's device.
fn queue_file(root: &SystemRoot, facts: &TargetFacts, file: &str) -> Result<PathBuf, String> {
    let device = facts.device.as_ref().and_then(|device| BlockDevice::with_name(root, &device.name));
    let queue = device.and_then(|device| device.queue_file(file));
    queue.ok_or_else(|| format!("{} is on no device that has {file}", facts.path))
}

/// The governor files of all processors. Processors that share a clock have one file together.
fn governor_files(root: &SystemRoot) -> BTreeSet<PathBuf> {
    let policies = fs::read_dir(root.join("sys/devices/system/cpu/cpufreq")).into_iter().flatten().flatten();
    let files = policies.map(|policy| policy.path().join("scaling_governor"));
    files.filter(|file| file.exists()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use readlab_model::target::device::{Device, ReadAhead};
    use std::process::Command;

    /// A fake `/sys` and `/proc` in a temporary folder, with a disk that has one partition.
    struct FakeSystem {
        folder: tempfile::TempDir,
        root: SystemRoot,
    }

    impl FakeSystem {
        fn new() -> FakeSystem {
            let folder = tempfile::tempdir().unwrap();
            let root = SystemRoot::below(folder.path());
            let system = FakeSystem { folder, root };
            system.write_file("sys/devices/vda/queue/read_ahead_kb", "128");
            system.write_file("sys/devices/vda/queue/scheduler", "[none] mq-deadline kyber");
            system.write_file("sys/devices/vda/vda1/partition", "1");
            system.write_file("sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never");
            system.write_file("proc/sys/vm/swappiness", "60");
            let block = system.path_of("sys/class/block");
            fs::create_dir_all(&block).unwrap();
            for (name, device) in [("vda", "sys/devices/vda"), ("vda1", "sys/devices/vda/vda1")] {
                std::os::unix::fs::symlink(system.path_of(device), block.join(name)).unwrap();
            }
            system
        }

        fn path_of(&self, path: &str) -> PathBuf {
            self.folder.path().join(path)
        }

        fn write_file(&self, path: &str, text: &str) {
            fs::create_dir_all(self.path_of(path).parent().unwrap()).unwrap();
            fs::write(self.path_of(path), format!("{text}\n")).unwrap();
        }

        fn find(&self, setting: SystemSetting, facts: &TargetFacts) -> Result<SettingFiles, String> {
            SettingFiles::find(&self.root, setting, [facts])
        }
    }

    fn target_on_device(device: &str) -> TargetFacts {
        let device = Device { name: device.to_owned(), ..Device::default() };
        TargetFacts { path: "/f".to_owned(), device: Some(device), ..TargetFacts::default() }
    }

    #[test]
    fn the_read_ahead_of_a_partition_is_that_of_its_disk_in_bytes() {
        let system = FakeSystem::new();
        let found = system.find(SystemSetting::ReadAhead, &target_on_device("vda1")).unwrap();
        assert_eq!(found.read_value().unwrap(), "128KiB");
        found.check_writable().unwrap();
        found.write_value("4MiB").unwrap();
        assert_eq!(found.read_value().unwrap(), "4MiB");
        let text = fs::read_to_string(system.path_of("sys/devices/vda/queue/read_ahead_kb")).unwrap();
        assert_eq!(text, "4096", "the kernel counts in KiB");
        assert_eq!(found.write_value("1000").unwrap_err(), "'1000' is no number of KiB");
        assert_eq!(system.find(SystemSetting::ReadAhead, &target_on_device("vda")).unwrap(), found);
    }

    #[test]
    fn read_ahead_is_set_at_the_file_system_or_once_for_targets_of_one_device() {
        let system = FakeSystem::new();
        system.write_file("sys/class/bdi/0:45/read_ahead_kb", "16");
        let setting = system.path_of("sys/class/bdi/0:45/read_ahead_kb").display().to_string();
        let own = Some(ReadAhead { bytes: 16 << 10, setting_path: setting });
        let fuse = TargetFacts { own_read_ahead: own, ..TargetFacts::default() };
        assert_eq!(system.find(SystemSetting::ReadAhead, &fuse).unwrap().read_value().unwrap(), "16KiB");
        let (one, other) = (target_on_device("vda1"), target_on_device("vda"));
        let shared = SettingFiles::find(&system.root, SystemSetting::ReadAhead, [&one, &other]).unwrap();
        assert_eq!(
            (shared.files.len(), shared.sharing_targets()),
            (1, vec![vec![TargetIndex::new(0), TargetIndex::new(1)]])
        );
        let both = SettingFiles::find(&system.root, SystemSetting::ReadAhead, [&one, &fuse]).unwrap();
        assert!(both.read_value().unwrap_err().ends_with("there is no single value to restore"));
    }

    #[test]
    fn each_device_has_a_value_of_its_own_to_restore() {
        let system = FakeSystem::new();
        system.write_file("sys/class/bdi/0:45/read_ahead_kb", "16");
        let setting = system.path_of("sys/class/bdi/0:45/read_ahead_kb").display().to_string();
        let own_read_ahead = Some(ReadAhead { bytes: 16 << 10, setting_path: setting });
        let fuse = TargetFacts { own_read_ahead, ..TargetFacts::default() };
        let targets = [target_on_device("vda"), fuse, target_on_device("vda1")];
        let both = SettingFiles::find(&system.root, SystemSetting::ReadAhead, &targets).unwrap();
        let found = both.read_values().unwrap();
        let of_targets = [0, 1, 2].map(|target| found[both.file_index_of(TargetIndex::new(target))].as_str());
        assert_eq!(of_targets, ["128KiB", "16KiB", "128KiB"]);
        assert_eq!(both.sharing_targets(), [[0, 2].map(TargetIndex::new)]);
        both.write_value("4MiB").unwrap();
        assert_eq!(both.read_value().unwrap(), "4MiB");
        both.write_values(&found).unwrap();
        assert_eq!(both.read_values().unwrap(), found);
        assert_eq!(both.commands_to_write(&found).unwrap().len(), 2);
    }

    #[test]
    fn a_scheduler_is_offered_if_each_device_has_it() {
        let system = FakeSystem::new();
        system.write_file("sys/devices/vdb/queue/scheduler", "mq-deadline [none] bfq");
        let link = system.path_of("sys/class/block/vdb");
        std::os::unix::fs::symlink(system.path_of("sys/devices/vdb"), link).unwrap();
        let targets = [target_on_device("vda"), target_on_device("vdb")];
        let both = SettingFiles::find(&system.root, SystemSetting::Scheduler, &targets).unwrap();
        assert_eq!(
            (both.offered_values(), both.files.len()),
            (vec!["none".to_owned(), "mq-deadline".to_owned()], 2)
        );
    }

    #[test]
    fn the_selected_word_of_a_list_is_the_value_and_all_words_are_offered() {
        let system = FakeSystem::new();
        let found = system.find(SystemSetting::Scheduler, &target_on_device("vda")).unwrap();
        assert_eq!(found.read_value().unwrap(), "none");
        assert_eq!(found.offered_values(), ["none", "mq-deadline", "kyber"]);
        let pages = system.find(SystemSetting::TransparentHugePages, &target_on_device("vda")).unwrap();
        assert_eq!((pages.read_value().unwrap().as_str(), pages.offered_values().len()), ("madvise", 3));
        let swappiness = system.find(SystemSetting::Swappiness, &TargetFacts::default()).unwrap();
        assert_eq!(swappiness.read_value().unwrap(), "60");
    }

    #[test]
    fn a_setting_without_files_is_refused_with_the_name_of_the_file() {
        let system = FakeSystem::new();
        let nowhere = TargetFacts { path: "/dev/shm/f".to_owned(), ..TargetFacts::default() };
        let refusal = |setting, facts: &TargetFacts| system.find(setting, facts).unwrap_err();
        let said = refusal(SystemSetting::ReadAhead, &nowhere);
        assert_eq!(said, "/dev/shm/f is on no device that has read_ahead_kb");
        assert!(
            refusal(SystemSetting::Scheduler, &target_on_device("vdb"))
                .contains("no device that has scheduler")
        );
        assert_eq!(refusal(SystemSetting::CpuGovernor, &nowhere), "this machine does not let it be set");
    }

    #[test]
    fn the_governors_of_all_processors_are_set_together() {
        let system = FakeSystem::new();
        let folder = "sys/devices/system/cpu/cpufreq";
        for policy in ["policy0", "policy1"] {
            system.write_file(&format!("{folder}/{policy}/scaling_governor"), "powersave");
            system.write_file(
                &format!("{folder}/{policy}/scaling_available_governors"),
                "performance powersave",
            );
        }
        system.write_file(&format!("{folder}/boost"), "1");
        let found = system.find(SystemSetting::CpuGovernor, &TargetFacts::default()).unwrap();
        assert_eq!(found.offered_values(), ["performance", "powersave"]);
        found.write_value("performance").unwrap();
        assert_eq!(found.read_value().unwrap(), "performance");
        system.write_file(&format!("{folder}/policy1/scaling_governor"), "powersave");
        assert!(found.read_value().is_err());
    }

    #[test]
    fn the_commands_restore_the_value() {
        let system = FakeSystem::new();
        let found = system.find(SystemSetting::ReadAhead, &target_on_device("vda")).unwrap();
        let commands = found.commands_to_write(&found.read_values().unwrap()).unwrap();
        found.write_value("8MiB").unwrap();
        for CommandLine { program, args, .. } in commands {
            assert!(Command::new(program).args(args).status().unwrap().success());
        }
        assert_eq!(found.read_value().unwrap(), "128KiB");
    }
}
