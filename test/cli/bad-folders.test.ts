import { symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { CommandLine } from './command-line.ts'

type Context = { commands: CommandLine }
const test = suite<Context>('a DATA_DIR')
test.before.each((context) => {
  context.commands = new CommandLine()
})
test.after.each(({ commands }) => commands.remove())

/** Folders that even root cannot create; Node's recursive mkdir never returned for the first one. */
const FOLDERS: Readonly<Record<string, (folder: string) => string>> = {
  'below /proc': () => '/proc/adamant/data',
  'below a device': () => '/dev/null/data',
  'that is a file': (folder) => {
    writeFileSync(join(folder, 'file'), '')
    return join(folder, 'file')
  },
  'whose name is too long': (folder) => join(folder, 'a'.repeat(300)),
  'that leads to itself': (folder) => {
    symlinkSync(join(folder, 'loop'), join(folder, 'loop'))
    return join(folder, 'loop')
  },
}

for (const [name, make] of Object.entries(FOLDERS)) {
  test(`${name} is refused with one line`, async ({ commands }) => {
    const folder = make(commands.folder)
    const words = ['user', 'add', 'a@example.com', '--password', 'right horse']
    const { code, err } = await commands.run(words, { DATA_DIR: folder })
    assert.match(err, /^adamant: DATA_DIR must be a writable folder, got .*\n$/)
    assert.ok(err.includes(folder), err)
    assert.is(code, 2)
  })
}

test.run()
