"""A vendor's program on the client that openapi-python-client makes of /openapi.json.

It creates a diamond, lists, changes it and shares a secret, and prints what it was told.
"""

import base64
import json
import os

from adamant_client import AuthenticatedClient
from adamant_client.api.inventory import create_diamond, list_diamonds, modify_diamond_by_patch, read_diamond
from adamant_client.api.secrets import reveal_secret, share_secret
from adamant_client.models import (
    Clarity,
    Color,
    CutQuality,
    CutShapeTitle,
    DiamondChangesV4,
    DiamondOrder,
    NewDiamondV4,
    RevealSecretJsonBody,
    ShareSecretJsonBody,
)

address = os.environ["ADDRESS"]
inventory = AuthenticatedClient(base_url=address, token=os.environ["TOKEN"])

stone = NewDiamondV4(
    sku="PY-1",
    cut_shape=CutShapeTitle.ROUND,
    carat=1.01,
    color=Color.F,
    clarity=Clarity.VS1,
    polish=CutQuality.EXCELLENT,
)
created = create_diamond.sync_detailed(client=inventory, body=stone)
diamond = created.parsed
listed = list_diamonds.sync(client=inventory, fsku=[diamond.sku], sort=DiamondOrder.CARAT_DESCENDING)
changes = DiamondChangesV4(price=5400, symmetry=CutQuality.VERY_GOOD)
modify_diamond_by_patch.sync(diamond.id, client=inventory, body=changes, if_match=created.headers["ETag"])
read = read_diamond.sync(diamond.id, client=inventory)

# An account's address and API token, as `Authorization: Basic`.
credentials = base64.b64encode(f"{os.environ['EMAIL']}:{os.environ['API_TOKEN']}".encode()).decode()
secrets = AuthenticatedClient(base_url=address, token=credentials, prefix="Basic")
shared = share_secret.sync(client=secrets, body=ShareSecretJsonBody(secret="the door opens with 4711"))
opened = reveal_secret.sync(shared.secret_key, client=secrets, body=RevealSecretJsonBody())

print(
    json.dumps(
        {
            "listed": [one.sku for one in listed],
            "price": read.price,
            "color": read.color,
            "symmetry": read.symmetry,
            "state": shared.state,
            "value": opened.value,
        }
    )
)
