/**
 * What is mutated, and which tests may notice. The physics of light is apart: a mutant of it is tried against tests that
 * trace stones, which takes hours; the rules take minutes each folder.
 */
const SCORING = 'src/domain/scoring'

const everything = ['src/domain/**/*.ts']

export type Part = {
  readonly mutate: readonly string[]
  readonly tests: readonly string[]
  readonly except: readonly string[]
}

export const PARTS: Readonly<Record<string, Part>> = {
  rules: {
    mutate: [...everything, `!${SCORING}/**`],
    tests: ['test/domain', 'test/commands', 'test/representations', 'test/events', 'test/model'],
    except: ['test/domain/scoring'],
  },
  scoring: {
    mutate: [`${SCORING}/**/*.ts`],
    tests: ['test/domain/scoring'],
    except: [],
  },
}
