import { diamonds } from './diamonds.ts'

/** Every read model of this release with the streams that it is made of. */
export const READ_MODELS = [diamonds].map(({ declaration, prefixes }) => ({ declaration, prefixes }))
