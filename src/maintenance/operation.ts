/** What was asked for can't be asked for: another option, folder or address is needed. */
export class BadUsage extends Error {
  override readonly name = 'BadUsage'
}

/** What was asked for was not done, and the message says all there is to say. */
export class Failed extends Error {
  override readonly name = 'Failed'
}
