/** What a promise is rejected with. @throws Error where it resolves, or is rejected with no Error */
export async function failureOf(work: Promise<unknown>): Promise<Error> {
  try {
    await work
  } catch (error) {
    if (error instanceof Error) return error
  }
  throw new Error('it did not fail')
}
