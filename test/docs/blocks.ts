import { execFile, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

/** The blocks of code in one language that a document has, in its order. @param file from the project's folder */
export function blocksOf(file: string, language: string): string[] {
  const text = readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8')
  const blocks = text.matchAll(new RegExp(`^\`\`\`${language}\n([^]*?)^\`\`\`$`, 'gm'))
  return [...blocks].map(([, block = '']) => block)
}

/** Whether a program can be run here with these arguments; where not, says what is left out for it. */
export function has(program: string, args: readonly string[] = ['--version']): boolean {
  if (spawnSync(program, args, { stdio: 'ignore' }).status === 0) return true
  console.log(`LEFT OUT: what needs ${program}, which is not here`)
  return false
}

/** What a program that is given its source says, and how it ends. */
export type Said = { readonly out: string; readonly err: string; readonly code: number }

type Run = {
  readonly env: Readonly<Record<string, string>>
  readonly cwd?: string
  readonly input?: string
}

/** Milliseconds after which a program counts as hanging. */
const HANGING = 600_000

/** Runs a program to its end. */
export function run(program: string, args: readonly string[], { env, cwd, input }: Run): Promise<Said> {
  const options = { env: { ...process.env, ...env }, timeout: HANGING, ...(cwd !== undefined && { cwd }) }
  return new Promise((done) => {
    const child = execFile(program, args, options, (error, out, err) => {
      done({ out, err, code: typeof error?.code === 'number' ? error.code : error === null ? 0 : 1 })
    })
    child.stdin?.end(input)
  })
}
