//! What can be wrong with a file that should have PTX in it.

use crate::base::{complaints, list};

/// Architectures as words.
fn named(archs: &[u32]) -> String {
    list(&archs.iter().map(|arch| format!("sm_{arch}")).collect::<Vec<_>>())
}

complaints! {
    /// Why no PTX is had from a file.
    #[derive(Clone, PartialEq, Eq, Debug)]
    #[expect(missing_docs, reason = "fields are named for what the message prints")]
    pub enum FatbinError(path: &str) {
        /// A length or an offset leads out of the file; where it stands.
        Cut { offset: usize } =>
            "damaged-binary" ("`{path}` is damaged: byte {offset} begins what is longer than what is left") ("")
            ("make it again; a download or copy may have been cut short");
        /// Something else stands where a container or entry should; where.
        NoContainer { offset: usize } =>
            "damaged-binary" ("`{path}` is damaged: no fat binary begins at byte {offset}") ("")
            ("make it again, or take the PTX that nvcc writes with -ptx");
        /// A form that a newer nvcc may write.
        Version { version: u16 } =>
            "unknown-binary" ("`{path}` is a fat binary of version {version}, which is not known here") ("")
            ("take the PTX that nvcc writes with -ptx");
        /// The sections of ELF cannot be read.
        BadElf =>
            "damaged-binary" ("`{path}` is damaged: its ELF sections cannot be read") ("") ("make it again");
        /// What is packed cannot be unpacked; where it begins in its container.
        Packed { offset: usize, how: &'static str } =>
            "damaged-binary" ("`{path}` is damaged: what {how} packed at byte {offset} cannot be unpacked") ("")
            ("make it again, perhaps with nvcc --no-compress");
        /// More text than anybody writes.
        TooLarge { most: usize } =>
            "large-binary" ("the PTX in `{path}` has more than {} MiB", most >> 20) ("")
            ("take out the PTX of one source file: cuobjdump -xptx");
        /// PTX that is no text; where it begins in its container.
        NoText { offset: usize } =>
            "damaged-binary" ("`{path}` is damaged: the PTX at byte {offset} is no text") ("") ("make it again");
        /// There is PTX, for other architectures, or not in each part of the program.
        OtherArch { wanted: Option<u32>, most: u32, ptx: Vec<u32> } =>
            "other-architecture"
            ("`{path}` has PTX for {}, {}", named(ptx), match wanted {
                Some(arch) => format!("and not in each of its parts for sm_{arch}"),
                None => format!("and not in each of its parts for what is known here, up to sm_{most}"),
            }) ("")
            ("{}", match wanted {
                Some(_) => "--arch names one of them; without it the highest is taken",
                None => "compile it for an older architecture, too: -gencode arch=compute_90,code=compute_90",
            });
        /// Machine code alone.
        MachineOnly { archs: Vec<u32> } =>
            "no-ptx" ("`{path}` has machine code for {}, and no PTX", named(archs)) ("")
            ("machine code cannot be run here; have nvcc put PTX in: -gencode arch=compute_80,code=compute_80");
        /// Code for the linker's optimiser.
        LinkOnly =>
            "no-ptx" ("`{path}` has code for link-time optimisation, and no PTX") ("")
            ("compile without -dlto, with -gencode arch=compute_80,code=compute_80");
        /// Neither.
        Nothing =>
            "no-ptx" ("`{path}` has no code for a GPU") ("")
            ("is it what nvcc made? An executable has it in section .nv_fatbin");
    }
}
