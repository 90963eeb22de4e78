/** Set by main.ts, which knows which part is asked for. */
const { MUTANTS_MUTATE, MUTANTS_TESTS, MUTANTS_REPORT, MUTANTS_AT_ONCE } = process.env

export default {
  mutate: JSON.parse(MUTANTS_MUTATE),
  uvu: { files: JSON.parse(MUTANTS_TESTS) },
  testRunner: 'uvu',
  plugins: ['./test/mutation/uvu-runner.js'],
  testRunnerNodeArgs: ['--import', 'tsx'],
  coverageAnalysis: 'perTest',
  // What is computed once, when a module is loaded, would need every test for each mutant: a day. `MUTANTS_STATIC=1` tries it.
  ignoreStatic: process.env.MUTANTS_STATIC !== '1',
  concurrency: Number(MUTANTS_AT_ONCE),
  reporters: ['clear-text', 'json', 'progress-append-only'],
  clearTextReporter: { allowColor: false, logTests: false, skipFull: true },
  jsonReporter: { fileName: MUTANTS_REPORT },
  tempDirName: '.tmp/stryker',
  ignorePatterns: ['bench', 'docs', 'dist', 'adamant-data'],
  timeoutMS: 20_000,
  // Stryker reads no project file of a compiler that has no interface for programs any more.
  tsconfigFile: 'none.json',
  allowEmpty: false,
  warnings: { slow: false },
}
