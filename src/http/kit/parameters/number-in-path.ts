import { z } from 'zod'

/** The number of something, as a segment of a path: text that its endpoint reads, described as the integer that it has to be. */
export const numberInPath = (about: string) => z.string().describe(about).meta({ type: 'integer', minimum: 1 })
