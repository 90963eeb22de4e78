import { RequestError } from '../../domain/request-error.ts'
import type { RequestBody } from '../kit/endpoint.ts'
import { toHttpErrorDetails } from '../kit/errors.ts'
import { html, NOTHING, type Html } from '../kit/html.ts'
import { errorText } from '../kit/page.ts'
import { pageIn } from './layout.ts'

/** A button of a form with several: `action` says which was pressed. */
export const actionButton = (action: string, text: string, attributes: Html = NOTHING): Html =>
  html`<button type="submit" name="do" value="${action}" ${attributes}>${text}</button>`

/** @throws RequestError malformed */
export function pressedAction<Action extends string>(actions: readonly Action[], value: string | undefined): Action {
  const action = actions.find((one) => one === value)
  if (action === undefined) throw new RequestError('malformed', `do must be one of ${actions.join(', ')}`)
  return action
}

/** The page that a form names, if it is one of the inventory: forms lead to no other site. */
export const ownPageIn = (page: string): string | undefined => (PAGE.test(page) ? pageIn(`/${page}`) : undefined)

const PAGE = /^inventory(?:\/[\w-]+)*(?:\?.*)?$/

/** A body, or why it was rejected: the pages show both. */
export const orRefusal = <Value, Service, Principal>(
  body: RequestBody<Value, Service, Principal>,
): RequestBody<Value | RequestError, Service, Principal> => ({
  ...body,
  async read(ctx, services) {
    try {
      return await body.read(ctx, services)
    } catch (error) {
      if (error instanceof RequestError) return error
      throw error
    }
  },
  release: (value) => (value instanceof RequestError ? undefined : body.release?.(value)),
})

/** Why a form was rejected, for the page that shows it again. @throws the error, unless the person can do something about it */
export function describeRefusal(error: unknown): { readonly status: number; readonly message: string } {
  const { status, faults } = toHttpErrorDetails(error)
  if (status >= 500) throw error
  return { status, message: errorText(faults) }
}

/** What a form answers to a browser without a session. */
export const LOG_IN_RESPONSE = { description: 'Not logged in: the log-in form', mediaType: 'text/html' } as const
