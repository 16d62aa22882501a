import { OUTPUT_BYTES } from '../ports/guest-channel.ts'

/*
 * Scripts that run inside the guest, as `/bin/sh -c SCRIPT coinrack ARGUMENTS`. A guest belongs to its owner: only
 * programs of Debian's essential packages are used. Exit code 65 says that a file is refused, and standard error says
 * why.
 */

export const REFUSED = 65
/** How a script ends for a file that is not there. */
export const MISSING = 66

/**
 * Arguments: seconds, folder, command. Of each output one byte more than the limit is kept, so that a cut can be seen;
 * what goes beyond is read and dropped, so that the command does not notice.
 */
export const runCommandScript = `
seconds=$1 folder=$2 command=$3
cd -- "$folder" || exit 1
take() { head -c ${OUTPUT_BYTES + 1}; cat >/dev/null; }
exec 4>&1 5>&2
code=$({ { { timeout -k 1 "$seconds" /bin/sh -c "$command" 3>&- 4>&- 5>&-; echo $? >&3; } | take >&4; } 2>&1 | take >&5; } 3>&1)
exit "$code"`

const refuse = `refuse() { echo "$1" >&2; exit ${REFUSED}; }`

/** Arguments: path, offset, length. The bytes come on standard output, the file's size on standard error. */
export const readFileScript = `
${refuse}
[ -e "$1" ] || { echo 'there is no such file' >&2; exit ${MISSING}; }
[ -f "$1" ] || refuse 'it is not a regular file'
stat -L -c %s -- "$1" >&2
tail -c +$(($2 + 1)) -- "$1" | head -c "$3"`

/** Arguments: path. Says where the file really lies, behind any links, when it can be written. */
export const findTargetScript = `
${refuse}
[ ! -d "$1" ] || refuse 'it is a folder'
target=$(readlink -f -- "$1") || refuse 'there is no such folder'
[ ! -e "$target" ] || [ -f "$target" ] || refuse 'it is not a regular file'
[ -d "\${target%/*}/" ] || refuse 'there is no such folder'
printf %s "$target"`

/** Arguments: path, offset. Standard input is written there. Says the size afterwards. */
export const writeAtScript = `
${refuse}
dd of="$1" bs=65536 iflag=fullblock oflag=seek_bytes seek="$2" conv=notrunc status=none || refuse 'it cannot be written'
stat -c %s -- "$1"`

/** Arguments: new file, path. Puts the one in the place of the other, with its owner and mode. */
export const replaceFileScript = `
${refuse}
if [ -e "$2" ]; then chown --reference="$2" -- "$1" && chmod --reference="$2" -- "$1"; else chmod 644 -- "$1"; fi &&
sync -- "$1" && mv -fT -- "$1" "$2" || { rm -f -- "$1"; refuse 'it cannot be written'; }`

/** Arguments: name, names for /etc/hosts. */
export const setHostnameScript = `
set -e
printf '%s\\n' "$1" >/etc/hostname
echo "$1" >/proc/sys/kernel/hostname
hosts=/etc/.hosts.coinrack
{ grep -v '^127\\.0\\.1\\.1[[:space:]]' /etc/hosts || :; printf '127.0.1.1 %s\\n' "$2"; } >"$hosts"
chmod 644 "$hosts"
mv -f "$hosts" /etc/hosts
sync /etc/hostname /etc/hosts`
