import { StoreUnavailable } from '../ports/event-store.ts'

export const codeOf = (error: unknown): string | undefined =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined

/** @throws StoreUnavailable for what the file system says, such as a full disk */
export async function available<Result>(action: () => Promise<Result>): Promise<Result> {
  try {
    return await action()
  } catch (error) {
    if (codeOf(error) === undefined) throw error
    throw new StoreUnavailable(`files: ${error instanceof Error ? error.message : codeOf(error)}`)
  }
}

/** Runs an action on a file that may be gone. @returns undefined when it is */
export async function ifThere<Result>(action: () => Promise<Result>): Promise<Result | undefined> {
  try {
    return await action()
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined
    throw error
  }
}
