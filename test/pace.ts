/**
 * The pace of a client, server or fault that a test plays: so many milliseconds lie between two things that it does.
 * Nothing may follow from how many they are; what a test waits for is `until`'s (test/until.ts).
 */
export const pace = (milliseconds: number): Promise<void> => new Promise((done) => setTimeout(done, milliseconds))
