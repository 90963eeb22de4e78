import { execFile, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

/** The code blocks of a document in one language. @param file relative to the project's folder */
export function codeBlocksOf(file: string, language: string): string[] {
  const text = readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8')
  const blocks = text.matchAll(new RegExp(`^\`\`\`${language}\n([^]*?)^\`\`\`$`, 'gm'))
  return [...blocks].map(([, block = '']) => block)
}

/** Whether a program runs on this machine. If not, prints that its tests are skipped. */
export function isInstalled(program: string, args: readonly string[] = ['--version']): boolean {
  if (spawnSync(program, args, { stdio: 'ignore' }).status === 0) return true
  console.log(`LEFT OUT: tests that need ${program}, which is not installed`)
  return false
}

/** The output and the exit code of a program. */
export type ProgramResult = { readonly out: string; readonly err: string; readonly code: number }

type RunOptions = {
  readonly env: Readonly<Record<string, string>>
  readonly cwd?: string
  readonly input?: string
}

/** Milliseconds after which a program counts as hanging. */
const HANGING = 900_000

export function run(program: string, args: readonly string[], { env, cwd, input }: RunOptions): Promise<ProgramResult> {
  const options = { env: { ...process.env, ...env }, timeout: HANGING, ...(cwd !== undefined && { cwd }) }
  return new Promise((done) => {
    const child = execFile(program, args, options, (error, out, err) => {
      done({ out, err, code: typeof error?.code === 'number' ? error.code : error === null ? 0 : 1 })
    })
    child.stdin?.end(input)
  })
}
