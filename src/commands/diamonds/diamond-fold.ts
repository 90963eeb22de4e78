import { evolve, unknown, type Diamond, type DiamondEvent } from '../../domain/diamond/diamond.ts'
import type { Fold } from '../core/load.ts'

export const diamondFold: Fold<Diamond, DiamondEvent> = { initial: unknown, evolve }
