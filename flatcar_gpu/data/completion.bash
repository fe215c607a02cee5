# Completion of flatcar-gpu for bash 4.4 or later; the program itself says what can follow.
# shellcheck shell=bash
_flatcar_gpu_completion() {
    local IFS=$'\n' type value
    COMPREPLY=()
    # env: bash does not export an array, and COMP_WORDS is one here.
    while IFS=, read -r type value; do
        case $type in
            dir) compopt -o dirnames ;;
            file) compopt -o default ;;
            plain) COMPREPLY+=("$value") ;;
        esac
    done < <(env COMP_WORDS="${COMP_WORDS[*]}" COMP_CWORD="$COMP_CWORD" _FLATCAR_GPU_COMPLETE=bash_complete "$1")
}

# Where the program knows no word, file names are offered.
complete -o nosort -o bashdefault -o default -F _flatcar_gpu_completion flatcar-gpu
