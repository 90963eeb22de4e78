import { typescriptLoader } from '../src/runtime/start-worker.ts'

/** What Node is told to run a TypeScript file: what this process was told. */
export const FROM_SOURCE: readonly string[] = ['--import', typescriptLoader()]
