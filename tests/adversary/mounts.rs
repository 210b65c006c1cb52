//! Tests of file systems that are mounted in unusual ways: from a file without a loop device, and
//! of layers that are elsewhere. Root only.

use super::home::{Home, trials};
use super::layers::{Undo, lines, run, text};
use std::fs;

mod ring2 {
    use super::*;

    /// Mounts a file without a loop device.
    const MOUNT: &str = "import ctypes, sys; image, point = (word.encode() for word in sys.argv[1:]); \
                         sys.exit(ctypes.CDLL(None).mount(image, point, b'erofs', 1, None) != 0)";

    #[test]
    fn a_file_system_that_is_mounted_from_a_file_is_cold_with_the_file() {
        for options in [&[][..], &["-zlz4"]] {
            let home = Home::new();
            let [image, point, content] = ["image", "mounted", "content"].map(|name| home.at(name));
            fs::create_dir(&point).unwrap();
            fs::create_dir(&content).unwrap();
            fs::write(content.join("file"), lines()).unwrap();
            let made = run(&[&["mkfs.erofs"], options, &[&text(&image), &text(&content)]].concat());
            let mounted = made.and_then(|_| run(&["python3", "-c", MOUNT, &text(&image), &text(&point)]));
            if let Err(why) = mounted {
                return eprintln!("SKIPPED: {why}");
            }
            let _undo = Undo(vec![vec!["umount".to_owned(), text(&point)]]);
            let words = ["--method", "rust/read/scalar"];
            let (json, said) = home.race_json(&point.join("file"), &words);
            assert_eq!(said.code, Some(0), "{options:?}: {said}");
            for state in ["cold", "warm"] {
                let trial = trials(&json, "rust/read/scalar", state);
                assert_eq!(
                    (&trial["outcome"], trial.get("cold_above")),
                    (&"measured".into(), None),
                    "{trial}"
                );
            }
            let from_device = &trials(&json, "rust/read/scalar", "cold")["samples"][0]["device_read_bytes"];
            assert!(from_device.as_u64() > Some(0), "{options:?}: {from_device}");
            let layers = json["targets"][0]["layers"].to_string();
            assert!(layers.contains(&text(&image)) && layers.contains("evicted"), "{layers}");
        }
    }

    #[test]
    fn the_layers_of_an_overlay_are_one_file_system() {
        let home = Home::new();
        let [lower, memory, point] = ["lower", "memory", "mounted"].map(|name| home.at(name));
        [&lower, &memory, &point].into_iter().for_each(|folder| fs::create_dir(folder).unwrap());
        fs::write(lower.join("a"), lines()).unwrap();
        let mount = |words: &[&str]| run(&[&["mount", "-t"], words].concat());
        if let Err(why) = mount(&["tmpfs", "none", &text(&memory)]) {
            return eprintln!("SKIPPED: {why}");
        }
        let mut undo = Undo(vec![vec!["umount".to_owned(), text(&memory)]]);
        let [upper, work] = ["upper", "work"].map(|name| memory.join(name));
        [&upper, &work].into_iter().for_each(|folder| fs::create_dir(folder).unwrap());
        let folders = format!("lowerdir={},upperdir={},workdir={}", text(&lower), text(&upper), text(&work));
        if let Err(why) = mount(&["overlay", "none", "-o", &folders, &text(&point)]) {
            return eprintln!("SKIPPED: {why}");
        }
        undo.0.push(vec!["umount".to_owned(), text(&point)]);
        fs::write(point.join("b"), lines()).unwrap();
        let (json, said) = home.race_json(&point, &["--state", "warm", "--method", "rust/files-auto/memchr"]);
        assert_eq!(said.code, Some(0), "{said}");
        assert_eq!(trials(&json, "rust/files-auto/memchr", "warm")["outcome"], "measured");
        assert_eq!(json["targets"][0]["tree"]["files"], 2);
    }
}
