"""Sends requests through the middleware of each framework. Arguments: issuer, and a JSON list of `Authorization` or null.

Prints, for each framework, [status, id, WWW-Authenticate] of each answer as JSON.
"""

import asyncio
import json
import sys

import django
import flask
import httpx
from django.conf import settings
from django.http import JsonResponse
from django.test import Client
from django.urls import path
from starlette.applications import Starlette
from starlette.responses import JSONResponse
from starlette.routing import Route

from gatehouse_access import AsyncTokenVerifier, TokenVerifier
from gatehouse_access.asgi import RequireIdentity
from gatehouse_access.flask import require_identity

issuer, sent = sys.argv[1], json.loads(sys.argv[2])
headers = [{} if value is None else {"authorization": value, "x-user-id": "usr_forged"} for value in sent]


def told(status, content, challenge):
    body = json.loads(content)
    return [status, body.get("id") or body["error"]["code"], challenge]


async def asgi():
    async def me(request):
        return JSONResponse({"id": request.scope["gatehouse"].id})

    app = RequireIdentity(Starlette(routes=[Route("/me", me)]), AsyncTokenVerifier(issuer=issuer))
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url="http://app") as client:
        answers = [await client.get("/me", headers=one) for one in headers]
    return [told(one.status_code, one.content, one.headers.get("www-authenticate")) for one in answers]


async def websocket():
    """What is sent to a handshake without a token."""
    sent_messages = []

    async def never(scope, receive, send):
        raise AssertionError("it was let in")

    async def send(message):
        sent_messages.append(message["type"])

    app = RequireIdentity(never, AsyncTokenVerifier(issuer=issuer))
    await app({"type": "websocket", "headers": []}, None, send)
    return sent_messages


async def elsewhere(token):
    """The answers to a token where it is read, and to one in `Authorization`."""

    async def me(request):
        return JSONResponse({"id": request.scope["gatehouse"].id})

    def read(scope):
        return dict(scope["headers"]).get(b"x-user-token", b"").decode() or None

    app = RequireIdentity(Starlette(routes=[Route("/me", me)]), AsyncTokenVerifier(issuer=issuer), token=read)
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url="http://app") as client:
        both = ({"x-user-token": token}, {"authorization": f"Bearer {token}"})
        return [(await client.get("/me", headers=one)).status_code for one in both]


def in_flask():
    app = flask.Flask("app")
    require_identity(app, TokenVerifier(issuer=issuer))

    @app.get("/me")
    def me():
        return {"id": flask.g.gatehouse.id}

    answers = [app.test_client().get("/me", headers=one) for one in headers]
    return [told(one.status_code, one.data, one.headers.get("www-authenticate")) for one in answers]


def in_django():
    settings.configure(
        ROOT_URLCONF=__name__,
        ALLOWED_HOSTS=["*"],
        MIDDLEWARE=["gatehouse_access.django.RequireIdentity"],
        GATEHOUSE={"issuer": issuer},
    )
    django.setup()
    answers = [Client().get("/me", headers=one) for one in headers]
    return [told(one.status_code, one.content, one.headers.get("www-authenticate")) for one in answers]


urlpatterns = [path("me", lambda request: JsonResponse({"id": request.gatehouse.id}))]
print(
    json.dumps(
        {"asgi": asyncio.run(asgi()), "flask": in_flask(), "django": in_django(), "websocket": asyncio.run(websocket()), "elsewhere": asyncio.run(elsewhere(sent[0].split(" ")[1]))}
    )
)
