/**
 * A pause between two actions of a simulated client, server or fault. No assertion may depend on its length; to wait for
 * a condition, use `until` (test/until.ts).
 */
export const pace = (milliseconds: number): Promise<void> => new Promise((done) => setTimeout(done, milliseconds))
