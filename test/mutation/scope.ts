/**
 * The mutated files and the tests that run against them. The optics are a separate part, because their tests trace stones
 * and take hours; the other rules take minutes per folder.
 */
export type Part = {
  readonly mutate: readonly string[]
  readonly tests: readonly string[]
}

export const PARTS: Readonly<Record<string, Part>> = {
  rules: {
    mutate: ['src/domain/**/*.ts'],
    tests: ['test/domain', 'test/commands', 'test/representations', 'test/events', 'test/model'],
  },
  optics: {
    mutate: ['src/optics/**/*.ts', '!src/optics/threads/**'],
    tests: ['test/optics'],
  },
}
