/** fast-check with the seed of this run (test/seeded.ts), so that a run can be had again. */
import { configureGlobal } from 'fast-check'
import { SEED } from './seeded.ts'

configureGlobal({ seed: SEED })

export * from 'fast-check'
