import { Router } from '@koa/router'
import type { Inventory } from '../../commands/diamonds/inventory.ts'
import type { DiamondQueries } from '../../projections/diamonds/diamond-queries.ts'
import { PRIVATE, type Resource } from '../kit/app.ts'
import { readJsonBody } from '../kit/body.ts'
import type { Links } from '../kit/links.ts'
import type { RequestState, Step } from '../kit/request.ts'
import { refuseBulkMatch } from './conditions.ts'
import { createBulk, createOne } from './create.ts'
import { modifyBulk, modifyOne, removeBulk, removeOne } from './modify.ts'
import { getList, getOne } from './read.ts'
import type { ApiVersion } from '../../domain/diamond/field.ts'

export type DiamondService = {
  readonly inventory: Inventory
  readonly queries: DiamondQueries
  readonly links: Links
  readonly authenticate: Step
}

/** The Diamond API of one version: the same methods and rules, another object. */
export function diamondResource(version: ApiVersion, service: DiamondService): Resource {
  const { authenticate } = service
  const prefix = `/${version}/diamond`
  const router = new Router<RequestState>()
  const modify = [authenticate, readJsonBody, modifyOne(version, service)]
  const bulk = [authenticate, refuseBulkMatch, readJsonBody]
  router.get(`${prefix}/:id`, authenticate, getOne(version, service))
  router.get(prefix, authenticate, getList(version, service))
  router.post(prefix, authenticate, readJsonBody, createOne(version, service))
  router.post(`${prefix}/bulk`, ...bulk, createBulk(version, service))
  router.put(`${prefix}/bulk`, ...bulk, modifyBulk(version, service))
  router.patch(`${prefix}/bulk`, ...bulk, modifyBulk(version, service))
  router.delete(`${prefix}/bulk`, ...bulk, removeBulk(service))
  router.put(`${prefix}/:id`, ...modify)
  router.patch(`${prefix}/:id`, ...modify)
  router.delete(`${prefix}/:id`, authenticate, removeOne(service))
  return { prefix, router, headers: PRIVATE }
}
