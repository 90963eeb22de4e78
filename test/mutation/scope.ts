/**
 * The mutated files and the tests that run against them. The scoring is a separate part, because its tests trace stones
 * and take hours; the other rules take minutes per folder.
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
