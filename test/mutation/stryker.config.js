/** Set by main.ts for the requested part. */
const { MUTANTS_MUTATE, MUTANTS_TESTS, MUTANTS_REPORT, MUTANTS_AT_ONCE } = process.env

export default {
  mutate: JSON.parse(MUTANTS_MUTATE),
  uvu: { files: JSON.parse(MUTANTS_TESTS) },
  testRunner: 'uvu',
  plugins: ['./test/mutation/uvu-runner.js'],
  testRunnerNodeArgs: ['--import', 'tsx'],
  coverageAnalysis: 'perTest',
  // A mutant in code that runs once, when a module loads, needs every test: a day in total. `MUTANTS_STATIC=1` includes them.
  ignoreStatic: process.env.MUTANTS_STATIC !== '1',
  concurrency: Number(MUTANTS_AT_ONCE),
  reporters: ['clear-text', 'json', 'progress-append-only'],
  clearTextReporter: { allowColor: false, logTests: false, skipFull: true },
  jsonReporter: { fileName: MUTANTS_REPORT },
  tempDirName: '.tmp/stryker',
  ignorePatterns: ['bench', 'docs', 'dist', 'adamant-data'],
  timeoutMS: 20_000,
  // Stryker cannot read the project file with this version of the TypeScript compiler, which has no API.
  tsconfigFile: 'none.json',
  allowEmpty: false,
  warnings: { slow: false },
}
