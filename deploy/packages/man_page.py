#!/usr/bin/env python3
"""Prints the man page of a program whose --help is that of CLI11, from the help texts of all its commands: man_page.py PROGRAM."""
import re
import subprocess
import sys


def help_of(program, *command):
    return subprocess.run([program, *command, "--help"], capture_output=True, text=True, check=True).stdout


def commands_of(text):
    """Returns the names in the section "Subcommands", without the commands of the script ./apimesh, which packages do not contain."""
    _, _, listed = text.partition("\nSubcommands:\n")
    return re.findall(r"^  ([a-z][a-z-]*)(?! +See ./apimesh)", listed, re.M)


def escaped(text):
    return "\n".join("\\&" + line if line[:1] in ".'" else line for line in text.replace("\\", "\\e").replace("-", "\\-").splitlines())


def verbatim(text):
    return f".nf\n{escaped(text.strip())}\n.fi\n"


def main():
    program = sys.argv[1]
    name = program.rsplit("/", 1)[-1]
    text = re.sub(r"^.* See ./apimesh, .*\n", "", help_of(program), flags=re.M)
    version = subprocess.run([program, "version"], capture_output=True, text=True, check=True).stdout.split()[1]
    print(f'.TH {name.upper()} 1 "" "{name} {version}"')
    print(f".SH NAME\n{name} \\- the Kubernetes API as a mesh of processes")
    print(f".SH SYNOPSIS\n.B {name}\nCOMMAND [OPTIONS]\n.SH DESCRIPTION\n{verbatim(text)}.SH COMMANDS")
    for command in commands_of(text):
        print(f".SS {escaped(command)}\n{verbatim(help_of(program, command))}")


main()
