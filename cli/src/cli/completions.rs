//! `warpstep completions`

use super::output;
use clap::Args;
use clap_complete::Shell;

/// Print what a shell needs to complete commands, flags and their values.
#[derive(Args)]
#[command(after_help = "\
Examples:
  cd ~/.local/share/bash-completion/completions
  warpstep completions bash > warpstep
  warpstep completions zsh > ~/.zfunc/_warpstep
  warpstep completions fish > ~/.config/fish/completions/warpstep.fish

The shell reads the file when it starts; zsh only where ~/.zfunc is in its fpath.")]
pub(super) struct Completions {
    /// The shell.
    shell: Shell,
}

impl Completions {
    /// Runs the command; gives the exit code.
    pub fn execute(&self) -> u8 {
        let mut text = Vec::new();
        clap_complete::generate(self.shell, &mut super::command(), "warpstep", &mut text);
        output::say(String::from_utf8_lossy(&text).into_owned());
        0
    }
}
