import { mkdtemp, readdir, readFile, readlink, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runCommand } from '@coinrack/host/run-command.ts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

/*
 * The script that unpacks images in sandboxes, run on this computer in a folder. It needs root, as it has there.
 */

const SCRIPT = new URL('./unpack_image.py', import.meta.url).pathname

/** Makes an archive: `layers` are lists of [name, content, link target], and `change` is code that has all of it in hand. */
const MAKE = `import gzip, hashlib, io, json, sys, tarfile
wish = json.loads(sys.argv[1])
def add(tar, name, content=b"", target=None, hard=False, device=False):
    info = tarfile.TarInfo(name)
    info.size, info.mode = len(content), 0o755
    if target is not None: info.type, info.linkname, info.size = (tarfile.LNKTYPE if hard else tarfile.SYMTYPE), target, 0
    if name.endswith("/"): info.type = tarfile.DIRTYPE
    if device: info.type, info.devmajor, info.devminor = tarfile.CHRTYPE, 1, 5
    tar.addfile(info, io.BytesIO(content))
def layer(entries):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as tar:
        for entry in entries:
            add(tar, entry[0], entry[1].encode(), *entry[2:])
    return gzip.compress(out.getvalue())
layers = [layer(each) for each in wish["layers"]]
config = json.dumps({"config": wish.get("config", {})}).encode()
with tarfile.open("image.tar", "w") as tar:
    def blob(content):
        digest = hashlib.sha256(content).hexdigest()
        add(tar, "blobs/sha256/" + digest, content)
        return {"digest": "sha256:" + digest}
    if wish.get("docker"):
        add(tar, "config.json", config)
        for number, each in enumerate(layers): add(tar, f"{number}/layer.tar", each)
        add(tar, "manifest.json", json.dumps([{"Config": "config.json", "Layers": [f"{n}/layer.tar" for n in range(len(layers))]}]).encode())
    else:
        manifest = {"config": blob(config), "layers": [blob(each) for each in layers]}
        if wish.get("wrong"): manifest["layers"][0]["digest"] = "sha256:" + "0" * 64
        chosen = blob(json.dumps(manifest).encode())
        if wish.get("platform"): chosen["platform"] = {"os": "linux", "architecture": wish["platform"]}
        add(tar, "index.json", json.dumps({"manifests": [chosen]}).encode())
`

describe.skipIf(process.getuid?.() !== 0)('an image archive', () => {
  let folder: string
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'coinrack-image-'))
  })
  afterAll(() => rm(folder, { recursive: true, force: true }))

  const make = (wish: object) => runCommand('python3', ['-c', MAKE, JSON.stringify(wish)], { cwd: folder })
  const unpack = () =>
    runCommand('python3', ['-I', SCRIPT, 'image.tar', 'root', 'config.json'], { cwd: folder })
  const failure = (work: Promise<unknown>) =>
    work.then(
      () => 'none',
      (error: Error) => error.message,
    )

  test.each([
    ['of the OCI', {}],
    ['of Docker', { docker: true }],
  ])('default: %s, with what later layers take away', async (_of, form) => {
    await make({
      ...form,
      layers: [
        [
          ['bin/', ''],
          ['bin/sh', 'shell'],
          ['same', '', 'bin/sh', true],
          ['gone', 'x'],
          ['full/one', 'x'],
          ['null', '', null, false, true],
        ],
        [
          ['.wh.gone', ''],
          ['full/.wh..wh..opq', ''],
          ['full/two', 'y'],
          ['bin/sh', 'newer'],
        ],
      ],
      config: { Env: ['A=1'], Cmd: ['sh'], WorkingDir: '/full', User: 'me:them' },
    })
    expect((await unpack()).stdout).toBe('layer 1 of 2\nlayer 2 of 2\n')
    const root = join(folder, 'root')
    expect(await readdir(root)).toEqual(
      ['bin', 'dev', 'etc', 'full', 'proc', 'run', 'same', 'sys', 'tmp'].sort(),
    )
    expect(await readdir(join(root, 'full'))).toEqual(['two'])
    expect(await readFile(join(root, 'bin/sh'), 'utf8')).toBe('newer')
    expect(await readFile(join(root, 'same'), 'utf8')).toBe('shell')
    expect(await readlink(join(root, 'etc/hosts'))).toBe('/run/hosts')
    expect(await readFile(join(root, 'etc/passwd'), 'utf8')).toMatch(/^root:x:0:0:/)
    expect(JSON.parse(await readFile(join(folder, 'config.json'), 'utf8'))).toEqual({
      env: ['A=1'],
      entrypoint: [],
      command: ['sh'],
      workdir: '/full',
      user: 'me:them',
    })
  })

  test('behavior: no name and no link leads out of its root', async () => {
    const outside = join(folder, 'outside')
    await writeFile(outside, 'as it was')
    await make({
      layers: [
        [
          ['../../up', 'x'],
          [outside, 'x'],
          ['here', '', folder],
          ['file', '', outside],
        ],
        [
          ['here/outside', 'x'],
          ['file', 'x'],
          ['.wh...', ''],
          ['hard', '', '../../../etc/hostname', true],
        ],
      ],
    })
    await failure(unpack())
    expect(await readFile(outside, 'utf8')).toBe('as it was')
    expect(await stat(join(folder, 'up')).catch(() => 'none')).toBe('none')
    expect(await readFile(join(folder, 'root/up'), 'utf8')).toBe('x')
  })

  test.each<[string, () => Promise<unknown>, RegExp]>([
    ['no tar', () => writeFile(join(folder, 'image.tar'), 'hello'.repeat(500)), /no tar/],
    [
      'no image',
      () => runCommand('tar', ['-cf', 'image.tar', 'config.json'], { cwd: folder }),
      /of no image/,
    ],
    ['another processor', () => make({ layers: [], platform: 's390x' }), /no image for linux/],
    [
      'a digest of nothing',
      () => make({ layers: [[['a', 'b']]], wrong: true }),
      /archive has no blobs\/sha256\/0000/,
    ],
  ])('error: %s', async (_what, prepare, why) => {
    await prepare()
    expect(await failure(unpack())).toMatch(why)
  })
})
