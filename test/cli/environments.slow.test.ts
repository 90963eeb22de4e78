import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { demoEnvironment } from '../../src/cli/demo/server.ts'

const PROGRAM = fileURLToPath(new URL('../../dist/main.js', import.meta.url))

const isFull = process.env['ADAMANT_FULL'] === '1'

type Context = { folder: string }
const test = suite<Context>('the program')
test.before.each((context) => {
  context.folder = mkdtempSync(join(tmpdir(), 'adamant environment ä '))
})
test.after.each(({ folder }) => rmSync(folder, { recursive: true }))

/** The variables that Debian sets in each of these environments. */
const ENVIRONMENTS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'a login shell': variables(`
    HOME=/home/ann USER=ann LOGNAME=ann SHELL=/bin/bash MAIL=/var/mail/ann TERM=xterm-256color SHLVL=1 PWD=/home/ann
    PATH=/usr/local/bin:/usr/bin:/bin LANG=de_DE.UTF-8 TZ=Europe/Berlin XDG_RUNTIME_DIR=/run/user/1000`),
  'a login by tcsh': variables(`
    HOME=/home/ann USER=ann GROUP=ann SHELL=/bin/tcsh MAIL=/var/mail/ann PATH=/usr/bin:/bin HOSTTYPE=x86_64-linux
    OSTYPE=linux MACHTYPE=x86_64 VENDOR=intel HOST=${hostname()}`),
  'a systemd unit': variables(`
    PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin LANG=C.UTF-8 USER=adamant JOURNAL_STREAM=8:12345
    INVOCATION_ID=00000000000000000000000000000000 SYSTEMD_EXEC_PID=1 MEMORY_PRESSURE_WATCH=/dev/null`),
  'a cron job': variables('HOME=/home/ann LOGNAME=ann SHELL=/bin/sh PATH=/usr/bin:/bin MAILTO=ann'),
  'env -i': {},
}

/** Parses `NAME=value NAME=value`. */
function variables(text: string): Record<string, string> {
  return Object.fromEntries(
    text
      .trim()
      .split(/\s+/)
      .map((each) => each.split('=', 2)),
  )
}

/** Starts the built program with only these environment variables. */
function start({ folder }: Context, words: readonly string[], env: Readonly<Record<string, string>>) {
  const child = spawn(process.execPath, [PROGRAM, ...words], { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] })
  const stderr = text(child.stderr)
  return { child, stderr, ended: once(child, 'exit').then(([code]) => Number(code)) }
}

for (const [name, environment] of Object.entries(ENVIRONMENTS)) {
  test(`serves in the environment of ${name}, with its data in the current folder`, async (context) => {
    // tcsh sets HOST, which is also a setting of serve: the service then listens on that name.
    const { child, stderr, ended } = start(context, ['serve', '--json'], { ...environment, PORT: '0' })
    const [line] = (await Promise.race([once(createInterface(child.stdout), 'line'), ended.then(() => [])])) as string[]
    if (line === undefined) throw new Error(await stderr)
    const { url } = JSON.parse(line) as { url: string }
    assert.is((await fetch(`${url}/health/ready`)).status, 200)
    child.kill('SIGTERM')
    assert.is(await ended, 0, await stderr)
    // Apart from the settings and the request, stderr has one warning, since MAILER is not set.
    const words = (await stderr)
      .split('\n')
      .filter((text) => !/^\{"level":30,.*"msg":"(?:starting|request)"\}$/.test(text))
    assert.match(words.join('\n'), /^[^\n]*MAILER=outbox sends no mail[^\n]*\n$/)
    assert.equal(readdirSync(context.folder), ['adamant-data'])
  })
}

/** Environments and numbers of stones for the demo, below and above the bulk size of 500. */
const DEMOS: readonly (readonly [environment: string, count: number])[] = isFull
  ? Object.keys(ENVIRONMENTS).flatMap((name) => [1, 20, 499, 500, 501].map((count) => [name, count] as const))
  : [
      ['a login by tcsh', 500],
      ['env -i', 501],
    ]

for (const [name, count] of DEMOS) {
  test(`runs the demo with ${count} stones in the environment of ${name}`, async (context) => {
    const words = ['demo', '--count', String(count), '--exit', '--json']
    const { child, stderr, ended } = start(context, words, ENVIRONMENTS[name] ?? {})
    const output = await text(child.stdout)
    assert.is(await ended, 0, await stderr)
    const result = JSON.parse(output) as { stones: number; url: string }
    assert.is(result.stones, count)
    assert.match(result.url, /^http:\/\/127\.0\.0\.1:\d+$/)
    assert.equal(readdirSync(context.folder), [])
  })
}

test('logs a warning if a setting has its former name', async (context) => {
  const { child, stderr, ended } = start(context, ['serve', '--json'], { MAIL: 'outbox', PORT: '0' })
  await once(createInterface(child.stdout), 'line')
  child.kill('SIGTERM')
  assert.is(await ended, 0)
  assert.match(await stderr, /"level":40,.*MAIL is now called MAILER/)
})

test("never runs the demo on the stores and addresses of the environment's installation", () => {
  const environment = variables(`
    EVENT_STORE=esdb://log.example.com READ_MODEL=mongodb://db.example.com/adamant MASTER_KEY=x ROLES=http DATA_DIR=/srv
    MAILER=smtp://mail.example.com BASE_URL=https://api.example.com HOST=workstation PORT=8081 LOG_LEVEL=info
    PATH=/usr/bin MAIL=/var/mail/ann`)
  const expected = variables('DATA_DIR=/tmp/demo PORT=8081 LOG_LEVEL=info PATH=/usr/bin MAIL=/var/mail/ann')
  assert.equal(demoEnvironment('/tmp/demo', environment), expected)
  assert.is(demoEnvironment('/tmp/demo', { HOST: '0.0.0.0' })['HOST'], '0.0.0.0')
})

test.run()
