"""Serves the middleware with real servers: ASGI with uvicorn, Flask with Werkzeug, Django with wsgiref. Argument: the issuer.

Prints their ports by name as JSON, and ends with its standard input.
"""

import json
import logging
import socket
import sys
import threading
from wsgiref.simple_server import WSGIRequestHandler, make_server

import django
import flask
import uvicorn
from django.conf import settings
from django.core.wsgi import get_wsgi_application
from django.http import JsonResponse
from django.urls import path
from starlette.applications import Starlette
from starlette.responses import JSONResponse
from starlette.routing import Route
from werkzeug.serving import make_server as make_werkzeug_server

from gatehouse_access import AsyncTokenVerifier, TokenVerifier
from gatehouse_access.asgi import RequireIdentity
from gatehouse_access.flask import require_identity

issuer = sys.argv[1]
logging.getLogger("werkzeug").setLevel(logging.ERROR)


def run(function, *args):
    threading.Thread(target=function, args=args, daemon=True).start()


async def me(request):
    return JSONResponse({"id": request.scope["gatehouse"].id})


def asgi():
    app = RequireIdentity(
        Starlette(routes=[Route("/me", me, methods=["GET", "POST"])]), AsyncTokenVerifier(issuer=issuer)
    )
    listening = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(app, log_level="critical", lifespan="off"))
    run(server.run, [listening])
    return listening.getsockname()[1]


def in_flask():
    app = flask.Flask("app")
    require_identity(app, TokenVerifier(issuer=issuer))
    app.add_url_rule("/me", view_func=lambda: {"id": flask.g.gatehouse.id}, methods=["GET", "POST"])
    server = make_werkzeug_server("127.0.0.1", 0, app, threaded=True)
    run(server.serve_forever)
    return server.server_port


class Quiet(WSGIRequestHandler):
    def log_message(self, *args):
        pass


def in_django():
    settings.configure(
        ROOT_URLCONF=__name__,
        ALLOWED_HOSTS=["*"],
        MIDDLEWARE=["gatehouse_access.django.RequireIdentity"],
        GATEHOUSE={"issuer": issuer},
    )
    django.setup()
    server = make_server("127.0.0.1", 0, get_wsgi_application(), handler_class=Quiet)
    run(server.serve_forever)
    return server.server_port


urlpatterns = [path("me", lambda request: JsonResponse({"id": request.gatehouse.id}))]
print(json.dumps({"asgi": asgi(), "flask": in_flask(), "django": in_django()}), flush=True)
sys.stdin.read()
