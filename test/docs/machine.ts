import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { until } from '../until.ts'
import { run, type ProgramResult } from './blocks.ts'

const PROJECT = fileURLToPath(new URL('../../', import.meta.url))

/** A machine with systemd: this one in separate namespaces, with copies of its folders, which end with it. */
export type Machine = {
  /** A Git repository with the files of this checkout; nothing of it is committed elsewhere. */
  readonly repository: string
  /** Runs a script of bash as root, as after a log-in. */
  bash(script: string): Promise<ProgramResult>
  close(): Promise<void>
}

/** Folders that a test may change. /tmp is empty, since systemd deletes its content. */
const COPIED = ['etc', 'var', 'opt', 'usr/local', 'root', 'srv', 'home']

/** Units that would change the kernel's settings or the devices of this machine. */
const MASKED = [
  'systemd-tmpfiles-setup.service',
  'systemd-tmpfiles-setup-dev.service',
  'systemd-tmpfiles-clean.timer',
  'systemd-sysctl.service',
  'systemd-modules-load.service',
  'systemd-udevd.service',
  'systemd-udev-trigger.service',
  'systemd-random-seed.service',
  'systemd-remount-fs.service',
  'systemd-binfmt.service',
  'systemd-machine-id-commit.service',
  'systemd-sysusers.service',
  'systemd-timesyncd.service',
  'systemd-update-utmp.service',
  'proc-sys-fs-binfmt_misc.automount',
  'dev-hugepages.mount',
  'dev-mqueue.mount',
  'sys-kernel-debug.mount',
  'sys-kernel-tracing.mount',
  'sys-kernel-config.mount',
  'sys-fs-fuse-connections.mount',
]

const PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'

const NAMESPACES = ['--mount', '--pid', '--fork', '--mount-proc', '--uts', '--ipc', '--kill-child=KILL']

/** This machine's certificates and proxies, with which npm downloads. */
const TRUSTED = ['NODE_EXTRA_CA_CERTS', 'SSL_CERT_FILE', 'HTTP_PROXY', 'HTTPS_PROXY'].flatMap((name) =>
  process.env[name] === undefined ? [] : [`${name}=${process.env[name]}`],
)

/** Mounts copies of the folders. */
const MOUNT = `set -eu
mount --make-rprivate /
mount -t tmpfs tmpfs /run
mkdir -p /run/lock
for folder in ${COPIED.join(' ')}; do
  mkdir -p /run/copies/$folder/upper /run/copies/$folder/work
  mount -t overlay overlay -o lowerdir=/$folder,upperdir=/run/copies/$folder/upper,workdir=/run/copies/$folder/work /$folder
done
mount -t tmpfs tmpfs /tmp`

/** Removes the units of this machine, and starts systemd. */
const START = `rm -rf /etc/systemd/system /var/log/journal
mkdir -p /etc/systemd/system
for unit in ${MASKED.join(' ')}; do ln -s /dev/null /etc/systemd/system/$unit; done
: >/etc/fstab
exec env -i container=test PATH=${PATH} /lib/systemd/systemd --system --log-target=null --unit=multi-user.target`

/** Why this machine can't start another one; undefined if it can. */
function obstacle(): string | undefined {
  if (process.getuid?.() !== 0) return 'they are not run as root'
  if (!existsSync('/lib/systemd/systemd')) return 'systemd is not installed'
  // Both would use the same control groups.
  if (readFileSync('/proc/1/comm', 'utf8').trim() === 'systemd') return 'systemd runs this machine'
  const { status, stderr } = spawnSync('unshare', [...NAMESPACES, 'sh', '-c', MOUNT])
  return status === 0 ? undefined : `namespaces or mounts are not permitted: ${String(stderr)}`
}

/** Whether `startMachine` works here. If not, prints that tests are skipped. */
export function isMachineAvailable(): boolean {
  const reason = obstacle()
  if (reason !== undefined) console.log(`LEFT OUT: tests on a machine with systemd: ${reason}`)
  return reason === undefined
}

/** Starts a machine; see `isMachineAvailable`. */
export async function startMachine(): Promise<Machine> {
  const repository = makeRepository()
  const unshare = spawn('unshare', [...NAMESPACES, 'sh', '-c', `${MOUNT}\n${START}`], { stdio: 'ignore' })
  const ended = once(unshare, 'exit')
  const enter = (...command: string[]) => enterWords(unshare.pid ?? 0, command)
  async function close(): Promise<void> {
    unshare.kill('SIGKILL')
    await ended
    rmSync(repository, { recursive: true })
  }
  await until('systemd has started its units', () => isStarted(enter))
  const environment = ['HOME=/root', `PATH=${PATH}`, `REPOSITORY=${repository}`, ...TRUSTED]
  const bash = (script: string) =>
    run('nsenter', enter('env', '-i', ...environment, 'bash', '--norc', '-c', script), { env: {}, cwd: '/' })
  return { repository, bash, close }
}

/** The files of this checkout, also changed ones, committed to a repository in a new folder that copies can read. */
function makeRepository(): string {
  const folder = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'adamant-repository-'))
  const git = (...args: string[]) =>
    execFileSync('git', ['-C', folder, '-c', 'user.name=test', '-c', 'user.email=test@localhost', ...args])
  git('init', '--quiet')
  const list = execFileSync('git', ['-C', PROJECT, 'ls-files', '-z', '--cached', '--others', '--exclude-standard'])
  execFileSync('tar', ['-C', PROJECT, '--null', '-T', '-', '-cf', join(folder, 'files.tar')], { input: list })
  execFileSync('tar', ['-C', folder, '-xf', join(folder, 'files.tar')])
  rmSync(join(folder, 'files.tar'))
  git('add', '--all')
  git('commit', '--quiet', '--message', 'A release')
  return folder
}

/** The arguments of `nsenter` for a command in the machine, whose first process is the child of `unshare`. */
function enterWords(unshare: number, command: readonly string[]): string[] {
  const [init = ''] = readFileSync(`/proc/${unshare}/task/${unshare}/children`, 'utf8').split(' ')
  return ['--target', init, '--mount', '--pid', '--uts', '--ipc', ...command]
}

function isStarted(enter: (...command: string[]) => string[]): boolean {
  try {
    const { stdout } = spawnSync('nsenter', enter('systemctl', 'is-active', 'multi-user.target'), { timeout: 5_000 })
    return String(stdout).trim() === 'active'
  } catch {
    // The first process has not started yet.
    return false
  }
}
