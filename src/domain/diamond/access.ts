import type { DiamondFields } from './fields.ts'

/** How often an owner has changed who sees a stone, and how much of it. Links are bound to it, and end with a change. */
export type AccessRevisions = { readonly access: number; readonly dataAccess: number }

export const unchangedAccess: AccessRevisions = { access: 0, dataAccess: 0 }

export const accessAfter = (
  revisions: AccessRevisions,
  before: DiamondFields,
  after: DiamondFields,
): AccessRevisions => ({
  access: revisions.access + (before.access === after.access ? 0 : 1),
  dataAccess: revisions.dataAccess + (before.dataAccess === after.dataAccess ? 0 : 1),
})

type Accessed = { readonly accessRevisions: AccessRevisions }

/** What the link of a report page is bound to: dataAccess says only what the page shows. */
export const pageRevision = ({ accessRevisions }: Accessed): number => accessRevisions.access

/** What the link of a certification's file is bound to: it grows with a change of either. */
export const fileRevision = ({ accessRevisions }: Accessed): number =>
  accessRevisions.access + accessRevisions.dataAccess
