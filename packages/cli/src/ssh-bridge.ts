/** The port in the sandbox that the bridge listens on, at its loopback alone. */
export const BRIDGE_PORT = 49_022

/** The folder in the sandbox of all that is for SSH. It is in memory, so a new sandbox of the same template has keys of its own. */
export const SSH_FOLDER = '/run/coinrack-ssh'

/**
 * Makes a sandbox ready for SSH, as root, as often as it is run: a host key of its own, the key that may log in, and the configuration of a server
 * that takes nothing but keys. `$KEY` is the public key. It says the public host key.
 */
export const PREPARE = `set -eu
if ! [ -x /usr/sbin/sshd ]; then echo 'it has no SSH server: sudo apt-get install openssh-server' >&2; exit 69; fi
mkdir -p /run/sshd ${SSH_FOLDER}
chmod 755 /run/sshd ${SSH_FOLDER}
cd ${SSH_FOLDER}
exec 9>lock
flock 9
[ -e host_key ] || ssh-keygen -q -t ed25519 -N '' -C '' -f host_key
touch authorized_keys
grep -qxF "$KEY" authorized_keys || echo "$KEY" >>authorized_keys
cat >sshd_config <<CONFIG
HostKey ${SSH_FOLDER}/host_key
AuthorizedKeysFile ${SSH_FOLDER}/authorized_keys
StrictModes no
PasswordAuthentication no
KbdInteractiveAuthentication no
UsePAM no
PermitRootLogin prohibit-password
PrintMotd no
PidFile none
AcceptEnv LANG LC_*
Subsystem sftp internal-sftp
CONFIG
# An account without a password may not log in at all while it counts as locked.
for account in user root; do
  if [ "$(passwd -S $account | cut -d ' ' -f 2)" = L ]; then usermod -p '*' $account; fi
done
cat host_key.pub`

/**
 * The program in the sandbox that an SSH server is reached through: each WebSocket (RFC 6455) to its port is one connection to an `sshd` of its own,
 * whose bytes it carries in binary messages. A second one ends at once.
 */
export const BRIDGE = `import asyncio, base64, hashlib, socket, struct

GUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
CONTINUED, TEXT, BINARY, CLOSE, PING, PONG = 0, 1, 2, 8, 9, 10
LONGEST = 1 << 20


def frame(opcode, data):
    length = len(data)
    if length < 126:
        head = struct.pack("!BB", 0x80 | opcode, length)
    elif length < 65536:
        head = struct.pack("!BBH", 0x80 | opcode, 126, length)
    else:
        head = struct.pack("!BBQ", 0x80 | opcode, 127, length)
    return head + data


async def read_frame(reader):
    first, second = await reader.readexactly(2)
    length = second & 0x7F
    if length == 126:
        (length,) = struct.unpack("!H", await reader.readexactly(2))
    elif length == 127:
        (length,) = struct.unpack("!Q", await reader.readexactly(8))
    if not second & 0x80 or length > LONGEST:
        raise ValueError("a client masks its frames, and keeps them short")
    mask = await reader.readexactly(4)
    data = await reader.readexactly(length)
    key = mask * (length // 4 + 1)
    plain = int.from_bytes(data, "big") ^ int.from_bytes(key[:length], "big")
    return first & 0x0F, plain.to_bytes(length, "big")


async def switch(reader, writer):
    head = (await reader.readuntil(b"\\r\\n\\r\\n")).decode("latin-1")
    fields = dict(line.split(":", 1) for line in head.split("\\r\\n")[1:] if ":" in line)
    key = {name.strip().lower(): value.strip() for name, value in fields.items()}.get("sec-websocket-key")
    if key is None:
        writer.write(b"HTTP/1.1 426 Upgrade Required\\r\\nupgrade: websocket\\r\\ncontent-length: 0\\r\\nconnection: close\\r\\n\\r\\n")
        return False
    accept = base64.b64encode(hashlib.sha1((key + GUID).encode()).digest()).decode()
    writer.write(
        b"HTTP/1.1 101 Switching Protocols\\r\\nupgrade: websocket\\r\\nconnection: upgrade\\r\\n"
        + f"sec-websocket-accept: {accept}\\r\\n\\r\\n".encode()
    )
    return True


async def carry(reader, writer):
    here, there = socket.socketpair()
    server = await asyncio.create_subprocess_exec(
        "/usr/sbin/sshd", "-i", "-q", "-f", "${SSH_FOLDER}/sshd_config", stdin=there, stdout=there, stderr=asyncio.subprocess.DEVNULL
    )
    there.close()
    from_server, to_server = await asyncio.open_connection(sock=here)

    async def outward():
        while data := await from_server.read(65536):
            writer.write(frame(BINARY, data))
            await writer.drain()
        writer.write(frame(CLOSE, struct.pack("!H", 1000)))

    async def inward():
        while True:
            opcode, data = await read_frame(reader)
            if opcode == CLOSE:
                return
            if opcode == PING:
                writer.write(frame(PONG, data))
            elif opcode in (BINARY, CONTINUED):
                to_server.write(data)
                await to_server.drain()

    both = [asyncio.ensure_future(outward()), asyncio.ensure_future(inward())]
    try:
        await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in both:
            task.cancel()
        await asyncio.gather(*both, return_exceptions=True)
        to_server.close()
        await server.wait()


async def serve(reader, writer):
    try:
        if await switch(reader, writer):
            await carry(reader, writer)
        await writer.drain()
    except (ConnectionError, EOFError, ValueError, asyncio.LimitOverrunError):
        pass
    finally:
        writer.close()


async def main():
    try:
        server = await asyncio.start_server(serve, "127.0.0.1", ${BRIDGE_PORT})
    except OSError:
        return
    await server.serve_forever()


asyncio.run(main())
`
