import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite, type Test } from 'uvu'
import * as assert from 'uvu/assert'
import { CommandLine, type CommandResult } from '../command-line.ts'

type Stone = Readonly<Record<string, unknown>>
type Result = {
  readonly would?: { readonly created: number }
  readonly first: Stone[]
  readonly bad: { readonly line: number; readonly problems: readonly string[] }[]
  readonly notes: Readonly<Record<string, number>>
  readonly unavailable: Readonly<Record<string, number>>
  readonly fields: Readonly<Record<string, unknown>>
}

export type DryRunContext = {
  commands: CommandLine
  /** The path of the imported file. */
  file: string
  /** Imports this content with --dry-run. */
  dryRun: (content: string | Buffer, ...words: string[]) => Promise<CommandResult>
}

/** A suite whose tests run `adamant import --dry-run` on one installation. */
export function dryRunSuite(name: string): Test<DryRunContext> {
  const test = suite<DryRunContext>(name)
  test.before(async (context) => {
    const commands = await CommandLine.onEngines()
    context.commands = commands
    await commands.json('user', 'add', 'a@example.com', '--password', 'right horse')
    const file = join(commands.folder, 'stones.csv')
    context.file = file
    context.dryRun = (content, ...words) => {
      writeFileSync(file, content)
      return commands.run(['import', file, '--user', 'a@example.com', '--dry-run', '--json', ...words])
    }
  })
  test.after(({ commands }) => commands.remove())
  return test
}

/** The result of a dry run that must succeed. */
export function resultOf({ code, out, err }: CommandResult): Result & { readonly err: string } {
  assert.is(code, 0, err)
  return { ...(JSON.parse(out.trim().split('\n').at(-1) ?? '') as Result), err }
}
