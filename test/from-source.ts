import { typescriptLoader } from '../src/runtime/start-worker.ts'

/** The Node arguments that run a TypeScript file: the same loader as in this process. */
export const FROM_SOURCE: readonly string[] = ['--import', typescriptLoader()]
