import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { fileURLToPath } from 'node:url'
import { codeBlocksOf, isInstalled, run } from './blocks.ts'
import { isMachineAvailable, startMachine, type Machine } from './machine.ts'

const PAGE = 'docs/runbook.md'
const PROJECT = fileURLToPath(new URL('../../', import.meta.url))

/** The expected output of each block, by a word in the block. */
const EXPECTED_OUTPUTS: readonly (readonly [block: string, seen: RegExp])[] = [
  ['adamant --version', /^\d+\.\d+\.\d+$[^]*adamant backup \/backups/m],
  ['adamant status', /diamonds v\d+ .* yes$/m],
  ['user add', /jane@example\.com is registered/],
  ['jq .expires_in', /^604800$/m],
  ['import - ', /2 stones/],
  ['/metrics', /adamant_follower_lag\{follower="diamonds"\} \d+/],
  ['select(.security)', /"security":"log-in"/],
  ['adamant audit user', /AccountRegistered[^]*operator root/],
  ['adamant backup /var', /Backed up \d+ events and 0 files \([\d,]+ bytes\) to /],
  ['adamant-trial', /^2$/m],
  ['--replace', /ready/],
  ['verify --sample', /No differences[^]*No differences/],
  ['adamant checkpoint', /^$/],
  ['rebuild diamonds', /Rebuilt diamonds/],
  ['dead-letters', /./],
  ['git pull', /Fast-forward[^]*diamonds v\d+ .* yes$/m],
  ['MASTER_KEY_OLD', /sealed with the new master key[^]*diamonds v\d+ .* yes$/m],
  ['key rotate links', /The link key was replaced[^]*has a new password/],
  ['adamant forget', /is disabled[^]*is disabled/],
]

/** A commit for `git pull`. */
const NEXT_RELEASE =
  'git -C "$REPOSITORY" -c user.name=test -c user.email=test@localhost commit --allow-empty -m "The next release"'

/** Waits until the service is ready. */
const [WAIT = ''] = codeBlocksOf(PAGE, 'sh').filter((block) => block.startsWith('curl -sS'))

/** The shell exits at the first failing line. */
const HEAD = 'set -eo pipefail; cd'

/** The blocks in one shell, each after a line `---`. */
const scriptOf = (blocks: readonly string[]) => [HEAD, ...blocks].join('\necho "---"\n')

const test = suite<{ machine: Machine }>(PAGE)

/** What the page needs besides the programs of a test machine, with a word to try each. */
const NEEDED = [
  ['curl', '--version'],
  ['jq', '--version'],
  ['openssl', 'version'],
] as const

if (isMachineAvailable() && NEEDED.every(([program, word]) => isInstalled(program, [word]))) {
  test.before.each(async (context) => {
    context.machine = await startMachine()
  })
  test.after.each(({ machine }) => machine.close())

  test('has blocks that work in order, from the installation to closing an account', async ({ machine }) => {
    const blocks = codeBlocksOf(PAGE, 'sh').map((block) => block.replace('git pull', `${NEXT_RELEASE}\ngit pull`))
    const { out, err, code } = await machine.bash(scriptOf(blocks))
    assert.is(code, 0, `${err}\n${out}\n${await logOf(machine)}`)
    const outputs = out.split('---\n').slice(1)
    assert.is(outputs.length, blocks.length)
    for (const [command, expected] of EXPECTED_OUTPUTS) {
      const at = blocks.findIndex((block) => block.includes(command))
      assert.match(outputs[at] ?? `no block has ${command}`, expected)
    }
    await checkOwners(machine)
  })

  test('installs the package that npm pack makes', async ({ machine }) => {
    const [, install = ''] = codeBlocksOf(PAGE, 'sh')
    const packed = await run('npm', ['pack', '--ignore-scripts', '--pack-destination', machine.repository], {
      env: {},
      cwd: PROJECT,
    })
    assert.is(packed.code, 0, packed.err)
    const blocks = [
      'cp "$REPOSITORY"/*.tgz .',
      ...codeBlocksOf(PAGE, 'sh from a package'),
      install,
      'export API=http://127.0.0.1:8080',
      WAIT,
    ]
    const { out, err, code } = await machine.bash(scriptOf(blocks))
    assert.is(code, 0, `${err}\n${out}\n${await logOf(machine)}`)
    assert.match(out, /diamonds v\d+ .* yes$/m)
  })
}

/** Commands that root runs work as the owner of the data, and their events name the person who used sudo. */
async function checkOwners(machine: Machine): Promise<void> {
  const foreign = await machine.bash('find /var/lib/adamant /var/backups/adamant ! -user adamant')
  assert.is(foreign.out, '', 'files that the service does not own')
  const backups = await machine.bash('ls /var/backups/adamant')
  assert.match(backups.out, /^\d{4}-\d\d-\d\dT\d{6}$/m, 'the backup of adamant-backup.service')
  const added = await machine.bash("SUDO_USER=alice adamant client add 'Another' && adamant events --json | tail -1")
  assert.match(added.out, /"osUser":"alice as root"/)
  const refused = await machine.bash('adamant backup /root/backup')
  assert.equal(
    [refused.err, refused.code],
    [
      'adamant: /root/backup cannot be used by the user adamant (permission denied); use another place, or give this user access\n',
      1,
    ],
  )
}

const logOf = async (machine: Machine) => (await machine.bash('journalctl -u adamant -o cat | tail -20')).out

test.run()
