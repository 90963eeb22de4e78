import { typescriptLoader } from '../src/runtime/typescript-loader.ts'

/** What Node is told to run a TypeScript file: what this process was told. */
export const FROM_SOURCE: readonly string[] = ['--import', typescriptLoader()]
