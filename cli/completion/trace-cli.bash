# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# bash completion of trace-cli. Subcommands and options are what trace-cli itself says, so that nothing here gets old.

_trace_cli_words() { # the words of a --help text that begin with --
	"$1" "$2" --help 2>/dev/null | grep -o -E -- '--[a-z-]+'
}

_trace_cli_commands() {
	"$1" --help 2>/dev/null | sed -n 's/^  \([a-z]*\) .*/\1/p'
}

# Descriptions of probes: bash takes the colon for a break of words, so what stands before it is cut off again.
_trace_cli_probes() {
	local word=$2
	case $word in
	*:*) COMPREPLY=($(compgen -W "$("$1" list "${word%\*}*" 2>/dev/null)" -- "$word")) ;;
	*) COMPREPLY=($(compgen -S : -W "$("$1" providers 2>/dev/null | sed -n 's/^\([a-z][a-z0-9-]*\) .* usable .*/\1/p')" -- "$word"))
		compopt -o nospace ;;
	esac
	__ltrim_colon_completions "$word"
}

_trace_cli() {
	local cur prev words cword split
	_init_completion -n : || return
	local program=${words[0]} command=${words[1]}

	if ((cword == 1)); then
		COMPREPLY=($(compgen -W "$(_trace_cli_commands "$program")" -- "$cur"))
		return
	fi
	case $prev in
	-p | --pid) COMPREPLY=($(compgen -W "$(cd /proc && echo [0-9]*)" -- "$cur")) && return ;;
	-o | --output) COMPREPLY=($(compgen -W "text json folded" -- "$cur")) && return ;;
	-c | --command) COMPREPLY=($(compgen -c -- "$cur")) && return ;;
	--plugin-dir) _filedir -d && return ;;
	--duration | --param) return ;;
	esac
	case $cur in
	-*)
		COMPREPLY=($(compgen -W "$(_trace_cli_words "$program" "$command")" -- "$cur"))
		return
		;;
	esac
	case $command in
	run | check | explain)
		COMPREPLY=($(compgen -W "$("$program" sets --names 2>/dev/null)" -- "$cur"))
		_filedir '@(yaml|yml)'
		;;
	list) _trace_cli_probes "$program" "$cur" ;;
	esac
}
complete -F _trace_cli trace-cli
