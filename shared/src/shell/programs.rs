//! Which programs and shell words take text for code, and in which of their words.
//!
//! A program that is not listed takes every word as data.

/// What a program does with its words.
#[derive(Debug, Clone, Copy)]
pub(super) enum Program {
    /// Every word, and what it reads, is code or becomes a part of it.
    AllCode,
    /// Every word is a variable's name, or is worked out as arithmetic.
    Names,
    /// Words that are `NAME` or `NAME=value`.
    Declares,
    /// It changes how the rest of the command is read.
    ChangesReading,
    Interpreter(Interpreter),
    /// It runs the rest of its words as a command.
    Launcher(Launcher),
    Find,
    /// `test` and `[`.
    Test,
    Printf,
    /// `.` and `source`: the first word is a script.
    Source,
    Set,
    Other,
}

/// A program that runs code out of one of its words, or out of what it reads.
#[derive(Debug, Clone, Copy)]
pub(super) struct Interpreter {
    pub(super) option: fn(&str) -> Takes,
    /// What its first word without a hyphen is, if no option gave it code before.
    pub(super) operand: Operand,
    /// Whether words after the code are still looked at for options.
    pub(super) after: After,
    /// How to hand it a value.
    pub(super) instead: &'static str,
}

/// What follows an option.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Takes {
    Nothing,
    Code,
    /// A word that is data.
    Data,
    /// `NAME=value`.
    Assignment,
    /// A fixed word, and one that is data.
    NameAndData,
    /// A word that decides what is run: only fixed text is safe.
    Fixed,
    /// The file that holds the code.
    Script,
    /// It is told to read code from its input.
    Input,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operand {
    Code,
    Script,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum After {
    Data,
    Options,
}

/// A program that runs another one.
#[derive(Debug, Clone, Copy)]
pub(super) struct Launcher {
    /// Options alone, by letter.
    pub(super) flags: &'static str,
    /// Options that take a word, by letter.
    pub(super) with_word: &'static str,
    /// Long options without `=` that stand alone.
    pub(super) long: &'static [&'static str],
    /// Words of its own before the program.
    pub(super) operands: usize,
    /// Whether `NAME=value` may stand before the program.
    pub(super) assigns: bool,
    /// Whether it adds what it reads to the program's words.
    pub(super) feeds: bool,
}

const PLAIN: Launcher = Launcher { flags: "", with_word: "", long: &[], operands: 0, assigns: false, feeds: false };

const PASS_TO_SH: &str = "Hand it over after the code, as in sh -c 'printf %s \"$1\"' sh {value}.";
const PASS_AFTER_CODE: &str = "Hand it over as an argument after the code, or by a variable, as in VALUE={value} program, and \
                               read it from the environment there.";

/// The program of this name, without its folder.
pub(super) fn program(name: &str) -> Program {
    let unversioned = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    match named(name) {
        Program::Other if !unversioned.is_empty() => named(unversioned),
        found => found,
    }
}

fn named(name: &str) -> Program {
    let interpreter =
        |option, operand, after, instead| Program::Interpreter(Interpreter { option, operand, after, instead });
    match name {
        "eval" | "trap" | "ssh" | "rsh" | "mosh" | "su" | "watch" | "parallel" | "script" | "tmux" | "screen"
        | "at" | "batch" | "crontab" | "expect" | "bc" | "dc" | "gdb" | "ed" | "ex" | "vi" | "vim" | "nvim"
        | "emacs" | "make" | "gmake" | "sqlite" | "sqlite3" | "psql" | "mysql" | "mariadb" | "tclsh" | "wish"
        | "rscript" | "Rscript" | "R" | "osascript" | "pwsh" | "powershell" | "m4" | "deno" | "bun" | "bind"
        | "enable" | "compgen" | "complete" | "jobs" | "fc" | "elixir" | "erl" | "ghci" | "groovy" | "jshell"
        | "julia" | "octave" | "gnuplot" | "tcsh" | "csh" | "fish" | "nu" => Program::AllCode,
        "let" | "[[" | "declare" | "typeset" | "read" | "unset" | "getopts" | "mapfile" | "readarray" | "wait" => {
            Program::Names
        }
        "export" | "readonly" | "local" => Program::Declares,
        "alias" | "unalias" | "shopt" => Program::ChangesReading,
        "." | "source" => Program::Source,
        "set" => Program::Set,
        "test" | "[" => Program::Test,
        "printf" => Program::Printf,
        "find" | "gfind" => Program::Find,
        "sh" | "bash" | "rbash" | "dash" | "ash" | "zsh" | "ksh" | "mksh" | "yash" | "posh" => {
            interpreter(of_shell, Operand::Script, After::Data, PASS_TO_SH)
        }
        "python" | "pypy" | "ipython" => interpreter(
            of_python,
            Operand::Script,
            After::Data,
            "Hand it over after the code and read sys.argv there: python3 -c '…' {value}.",
        ),
        "perl" => interpreter(
            of_perl,
            Operand::Script,
            After::Options,
            "Hand it over after -- and read @ARGV there: perl -e '…' -- {value}.",
        ),
        "ruby" => interpreter(
            of_perl,
            Operand::Script,
            After::Options,
            "Hand it over after -- and read ARGV there: ruby -e '…' -- {value}.",
        ),
        "node" | "nodejs" => interpreter(
            of_node,
            Operand::Script,
            After::Options,
            "Hand it over after -- and read process.argv there: node -e '…' -- {value}.",
        ),
        "php" => interpreter(
            of_php,
            Operand::Script,
            After::Options,
            "Hand it over after -- and read $argv there: php -r '…' -- {value}.",
        ),
        "lua" | "luajit" => interpreter(of_lua, Operand::Script, After::Options, PASS_AFTER_CODE),
        "awk" | "gawk" | "mawk" | "nawk" | "original-awk" => interpreter(
            of_awk,
            Operand::Code,
            After::Data,
            "Hand it over by a variable and read ENVIRON[\"VALUE\"] there: VALUE={value} awk '…'.",
        ),
        "sed" | "gsed" => interpreter(
            of_sed,
            Operand::Code,
            After::Options,
            "Use an expression of the flow, such as {{ inputs.text | replace('a', 'b') }}, or awk with a variable.",
        ),
        "jq" | "gojq" | "jaq" => interpreter(
            of_jq,
            Operand::Code,
            After::Options,
            "Hand it over by a variable of the filter: jq --arg value {value} '… $value …'.",
        ),
        _ => launcher(name).map_or(Program::Other, Program::Launcher),
    }
}

fn launcher(name: &str) -> Option<Launcher> {
    Some(match name {
        "env" => Launcher {
            flags: "i0v",
            with_word: "uC",
            long: &["--ignore-environment", "--null", "--debug"],
            assigns: true,
            ..PLAIN
        },
        "sudo" => Launcher { flags: "EnHSkKbPB", with_word: "ugpChrtTUDR", assigns: true, ..PLAIN },
        "doas" => Launcher { flags: "nL", with_word: "uC", ..PLAIN },
        "nice" => Launcher { flags: "0123456789", with_word: "n", ..PLAIN },
        "ionice" => Launcher { flags: "t0123456789", with_word: "cn", ..PLAIN },
        "nohup" | "setsid" | "builtin" | "coproc" | "busybox" | "toybox" | "eatmydata" => {
            Launcher { flags: "cfw", ..PLAIN }
        }
        "command" => Launcher { flags: "pvV", ..PLAIN },
        "exec" => Launcher { flags: "cl", with_word: "a", ..PLAIN },
        "time" => Launcher { flags: "pvaq", with_word: "fo", ..PLAIN },
        "timeout" => Launcher {
            flags: "fpv",
            with_word: "sk",
            long: &["--foreground", "--preserve-status", "--verbose"],
            operands: 1,
            ..PLAIN
        },
        "taskset" => Launcher { flags: "ac", operands: 1, ..PLAIN },
        "chrt" => Launcher { flags: "abfior", operands: 1, ..PLAIN },
        "stdbuf" => Launcher { with_word: "ioe", ..PLAIN },
        "flock" => Launcher { flags: "exsnuFov", with_word: "wE", operands: 1, ..PLAIN },
        "chroot" => Launcher { operands: 1, ..PLAIN },
        "xargs" => Launcher {
            flags: "0rtpox",
            with_word: "IEdnLPsa",
            long: &["--null", "--no-run-if-empty", "--verbose", "--exit"],
            feeds: true,
            ..PLAIN
        },
        _ => return None,
    })
}

/// The letters of a bundle of options: `-ne`.
fn bundle(option: &str) -> &str {
    option.strip_prefix('-').filter(|letters| !letters.starts_with('-')).unwrap_or_default()
}

fn of_shell(option: &str) -> Takes {
    let letters = bundle(option);
    match option {
        "--rcfile" | "--init-file" => Takes::Fixed,
        _ if letters.contains('c') => Takes::Code,
        _ if letters.contains('s') => Takes::Input,
        _ if letters.ends_with(['o', 'O']) => Takes::Fixed,
        _ => Takes::Nothing,
    }
}

fn of_python(option: &str) -> Takes {
    let letters = bundle(option);
    match option {
        "-" => Takes::Input,
        _ if letters.ends_with('c') => Takes::Code,
        _ if letters.ends_with('m') => Takes::Script,
        "-W" | "-X" => Takes::Fixed,
        _ => Takes::Nothing,
    }
}

fn of_perl(option: &str) -> Takes {
    match option {
        "-" => Takes::Input,
        _ if bundle(option).ends_with(['e', 'E']) => Takes::Code,
        "-I" | "-r" | "-C" | "-M" | "-m" => Takes::Fixed,
        _ => Takes::Nothing,
    }
}

fn of_node(option: &str) -> Takes {
    match option {
        "-" => Takes::Input,
        "-e" | "--eval" | "-p" | "--print" | "-pe" => Takes::Code,
        "-r" | "--require" | "--import" | "--loader" | "--experimental-loader" | "-C" | "--conditions" => Takes::Fixed,
        _ => Takes::Nothing,
    }
}

fn of_php(option: &str) -> Takes {
    match option {
        "-r" | "-B" | "-R" | "-E" => Takes::Code,
        "-f" | "-F" => Takes::Script,
        "-d" | "-c" | "-z" | "-S" | "-t" => Takes::Fixed,
        _ => Takes::Nothing,
    }
}

fn of_lua(option: &str) -> Takes {
    match option {
        "-" => Takes::Input,
        "-e" => Takes::Code,
        "-l" => Takes::Fixed,
        _ => Takes::Nothing,
    }
}

fn of_awk(option: &str) -> Takes {
    match option {
        "-e" | "--source" => Takes::Code,
        "-f" | "--file" => Takes::Script,
        "-v" | "--assign" => Takes::Assignment,
        "-F" | "--field-separator" => Takes::Data,
        "-i" | "--include" | "-l" | "--load" | "-E" | "--exec" | "-W" => Takes::Fixed,
        _ => Takes::Nothing,
    }
}

fn of_sed(option: &str) -> Takes {
    match option {
        "--expression" => Takes::Code,
        "--file" => Takes::Script,
        "-l" | "--line-length" => Takes::Fixed,
        _ if bundle(option).ends_with('e') => Takes::Code,
        _ if bundle(option).ends_with('f') => Takes::Script,
        _ => Takes::Nothing,
    }
}

fn of_jq(option: &str) -> Takes {
    match option {
        "--arg" | "--argjson" | "--slurpfile" | "--rawfile" => Takes::NameAndData,
        "-f" | "--from-file" => Takes::Script,
        "-L" | "--indent" | "--library-path" => Takes::Fixed,
        _ => Takes::Nothing,
    }
}

/// Variables whose value a shell or another program takes for code, or for options.
pub(super) fn holds_code(variable: &str) -> bool {
    matches!(
        variable,
        "PS0"
            | "PS1"
            | "PS2"
            | "PS3"
            | "PS4"
            | "ENV"
            | "BASH_ENV"
            | "PROMPT_COMMAND"
            | "SHELLOPTS"
            | "BASHOPTS"
            | "PERL5OPT"
            | "PERL5DB"
            | "RUBYOPT"
            | "NODE_OPTIONS"
            | "PYTHONSTARTUP"
            | "JAVA_TOOL_OPTIONS"
            | "MAKEFLAGS"
            | "LESSOPEN"
            | "LESSCLOSE"
            | "PAGER"
            | "EDITOR"
            | "VISUAL"
            | "BROWSER"
            | "GIT_PAGER"
            | "GIT_EDITOR"
            | "GIT_SSH"
            | "GIT_SSH_COMMAND"
            | "GIT_EXTERNAL_DIFF"
            | "GIT_PROXY_COMMAND"
            | "LD_PRELOAD"
            | "LD_AUDIT"
            | "LD_LIBRARY_PATH"
            | "RSYNC_RSH"
            | "TAR_OPTIONS"
    )
}

/// Tests of `find` that take a word of data.
pub(super) fn find_takes_word(test: &str) -> bool {
    matches!(
        test,
        "-name"
            | "-iname"
            | "-path"
            | "-ipath"
            | "-wholename"
            | "-iwholename"
            | "-lname"
            | "-ilname"
            | "-regex"
            | "-iregex"
            | "-regextype"
            | "-newer"
            | "-anewer"
            | "-cnewer"
            | "-newermt"
            | "-newerat"
            | "-newerct"
            | "-mtime"
            | "-atime"
            | "-ctime"
            | "-mmin"
            | "-amin"
            | "-cmin"
            | "-size"
            | "-user"
            | "-group"
            | "-uid"
            | "-gid"
            | "-perm"
            | "-maxdepth"
            | "-mindepth"
            | "-type"
            | "-xtype"
            | "-fstype"
            | "-inum"
            | "-links"
            | "-samefile"
            | "-printf"
            | "-used"
            | "-context"
    )
}

/// What `find` runs commands with.
pub(super) fn find_runs(action: &str) -> bool {
    matches!(action, "-exec" | "-execdir" | "-ok" | "-okdir")
}
