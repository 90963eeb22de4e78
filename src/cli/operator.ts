import { randomUUID } from 'node:crypto'
import type { Origin } from '../commands/origin.ts'

/** Who stands behind what a command writes; one run of it has one correlation id. */
export const operator = (): Origin => ({ actor: 'operator', via: 'cli', correlation: randomUUID() })
