import { Refusal } from '../../domain/decider.ts'
import { changesFrom, entryOf, readPast, stateOf, viewAt } from '../../projections/history/diamond.ts'
import { Who } from '../../projections/history/who.ts'
import type { Subject } from './subject.ts'

/** `audit diamond ID`: the same entries as its owner's history, and more of who. */
export const auditDiamond: Subject = {
  name: 'diamond',
  about: 'tell what happened to a diamond: who, when, through what, and which field went from what to what',
  id: 'its number, of a deleted one too',
  example: '7',
  async past({ store, people }, id) {
    const past = await readPast(store, diamondNumber(id))
    if (past.steps.length === 0) throw new Refusal('missing', `There is no diamond ${id}, and there never was`)
    const who = new Who(store, people)
    return {
      entries: () => Promise.all(past.steps.map(async (step) => entryOf(step, await who.of(step.event)))),
      stateAt: (until) => stateOf(viewAt(past, until)),
      changes: (from, to) => changesFrom(past, from, to),
    }
  },
}

/** `7`, or the name of its stream. @throws Refusal invalid */
function diamondNumber(id: string): number {
  const number = Number(/^(?:diamond-|scores-)?([1-9]\d{0,15})$/.exec(id)?.[1] ?? NaN)
  if (Number.isSafeInteger(number)) return number
  throw new Refusal('invalid', `A diamond's id is a number such as 7, got ${id.slice(0, 40)}`)
}
