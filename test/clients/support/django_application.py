"""A Django site of one file: a form with CSRF protection, and a session in a signed cookie. Prints its port."""

import sys
from socketserver import ThreadingMixIn
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

from django.conf import settings

settings.configure(
    SECRET_KEY="of tests",
    ALLOWED_HOSTS=["127.0.0.1"],
    ROOT_URLCONF=__name__,
    SESSION_ENGINE="django.contrib.sessions.backends.signed_cookies",
    MIDDLEWARE=[
        "django.contrib.sessions.middleware.SessionMiddleware",
        "django.middleware.common.CommonMiddleware",
        "django.middleware.csrf.CsrfViewMiddleware",
    ],
)

from django.core.wsgi import get_wsgi_application
from django.http import HttpResponse, HttpResponseRedirect, JsonResponse
from django.middleware.csrf import get_token
from django.urls import path


def basket(request):
    """The form, and what was put into the basket before."""
    if request.method == "POST":
        files = {name: file.size for name, file in request.FILES.items()}
        request.session["items"] = request.session.get("items", []) + request.POST.getlist("item")
        request.session["files"] = files
        return HttpResponseRedirect("/basket/")
    fields = '<input name="csrfmiddlewaretoken" value="%s"><input name="item">' % get_token(request)
    items = ",".join(request.session.get("items", []))
    return HttpResponse('<form method="post">%s</form><p id="items">%s</p>' % (fields, items))


def contents(request):
    return JsonResponse({**dict(request.session.items()), "user": request.headers.get("x-user-id", "")})


urlpatterns = [path("basket/", basket), path("contents", contents), path("staff/", contents)]


class Server(ThreadingMixIn, WSGIServer):
    daemon_threads = True


class Quiet(WSGIRequestHandler):
    def log_message(self, *arguments):
        pass


if __name__ == "__main__":
    # Django imports the URLs from a module of this name
    sys.modules[__name__] = sys.modules["__main__"]
    server = make_server("127.0.0.1", 0, get_wsgi_application(), Server, Quiet)
    print(server.server_port, flush=True)
    server.serve_forever()
