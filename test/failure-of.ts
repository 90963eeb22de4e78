/** The error that a promise rejects with. @throws Error if it resolves, or rejects with something other than an Error */
export async function failureOf(work: Promise<unknown>): Promise<Error> {
  try {
    await work
  } catch (error) {
    if (error instanceof Error) return error
  }
  throw new Error('it did not fail')
}
