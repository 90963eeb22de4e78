/** Mutation tests of `src/domain` and `src/optics`: `npm run test:mutants -- [rules|optics] [SUBSTRINGS OF PATHS...]`. */
import { spawnSync } from 'node:child_process'
import { existsSync, globSync, mkdirSync, readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { PARTS, type Part } from './scope.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))
const mutationFolder = join(root, 'test/mutation')

/** The minimum percentage of killed mutants. */
const MIN_KILLED_PERCENT = 85

type Mutant = { readonly status: string }
type Report = { readonly files: Readonly<Record<string, { readonly mutants: readonly Mutant[] }>> }

function main([part = 'rules', ...words]: readonly string[]): number {
  const scope = PARTS[part]
  if (scope === undefined) {
    console.error(
      `test:mutants must get one of ${Object.keys(PARTS).join(', ')}, then substrings of paths, got ${part}`,
    )
    return 2
  }
  // In a separate package, so that `npm ci` in the project doesn't install Stryker.
  if (!existsSync(join(mutationFolder, 'node_modules'))) run('npm', ['ci', '--silent'], mutationFolder)
  const report = join(root, '.tmp', `mutants-${part}.json`)
  mkdirSync(join(root, '.tmp'), { recursive: true })
  const selected =
    words.length === 0
      ? scope.mutate
      : filesOf(scope.mutate).filter((file) => words.some((word) => file.includes(word)))
  const stryker = join(mutationFolder, 'node_modules/@stryker-mutator/core/bin/stryker.js')
  const status = run(process.execPath, [stryker, 'run', 'test/mutation/stryker.config.js'], root, {
    MUTANTS_MUTATE: JSON.stringify(selected),
    MUTANTS_TESTS: JSON.stringify(testsOf(scope)),
    MUTANTS_REPORT: report,
    MUTANTS_AT_ONCE: String(availableParallelism()),
  })
  return status === 0 ? verdict(JSON.parse(readFileSync(report, 'utf8')) as Report) : status
}

function filesOf(patterns: readonly string[]): string[] {
  const exclusions = patterns.filter((pattern) => pattern.startsWith('!')).map((pattern) => pattern.slice(1))
  const excluded = new Set(exclusions.flatMap((pattern) => globSync(pattern, { cwd: root })))
  return patterns
    .filter((one) => !one.startsWith('!'))
    .flatMap((one) => globSync(one, { cwd: root }))
    .filter((file) => !excluded.has(file))
}

const testsOf = ({ tests }: Part) => tests.flatMap((folder) => globSync(`${folder}/**/*.test.ts`, { cwd: root }))

/** Prints the share of killed mutants. @returns the exit code */
function verdict({ files }: Report): number {
  const all = Object.values(files).flatMap(({ mutants }) => mutants)
  const counted = all.filter(({ status }) => status !== 'Ignored' && status !== 'CompileError')
  const killed = counted.filter(({ status }) => status === 'Killed' || status === 'Timeout')
  const share = (killed.length / counted.length) * 100
  const untested = all.length - counted.length
  console.log(
    `${killed.length} of ${counted.length} mutants were killed, ${share.toFixed(1)} % (minimum ${MIN_KILLED_PERCENT} %); ${untested} were not tested`,
  )
  return share >= MIN_KILLED_PERCENT ? 0 : 1
}

function run(
  program: string,
  words: readonly string[],
  cwd: string,
  env: Readonly<Record<string, string>> = {},
): number {
  return spawnSync(program, words, { cwd, env: { ...process.env, ...env }, stdio: 'inherit' }).status ?? 1
}

process.exitCode = main(process.argv.slice(2))
