"""Users over JSON."""

from rest_framework.request import Request

from core.api.bodies import Message
from core.api.operations import operation
from organizations.api.bodies import UserAnswer, UserBody, UsersAnswer, UsersQuery, UserUpdateBody
from organizations.api.doors import AccountView
from organizations.people import selectors, services
from organizations.people.services import UserChanges

NEW = {"email": "ann@example.com", "name": "Ann", "password": "a long enough secret"}


class UsersView(AccountView):
    """The people that the caller may see, and a new one."""

    @operation("list_users", "List users", tag="Users", answer=UsersAnswer, query=UsersQuery, errors=(400, 404))
    def get(self, request: Request) -> UsersAnswer:
        asked = self.query(UsersQuery)
        rows = selectors.list_users(by=self.caller.user, **asked.model_dump(exclude={"skip", "limit"}))
        shown = [UserAnswer.of(user) for user in rows[asked.skip : asked.skip + asked.limit]]
        return UsersAnswer(users=shown, total_count=rows.count(), skip=asked.skip)

    @operation("create_user", "Make a user", tag="Users", answer=UserAnswer, body=UserBody, errors=(400,), example=NEW)
    def post(self, request: Request) -> UserAnswer:
        return UserAnswer.of(services.register_user(by=self.caller.user, **self.body(UserBody).model_dump()))


class UserView(AccountView):
    """One person: oneself, or for who runs the deployment anybody."""

    @operation(
        "update_user",
        "Change a user",
        tag="Users",
        answer=UserAnswer,
        body=UserUpdateBody,
        errors=(400, 404),
        example={"name": "Ann"},
    )
    def put(self, request: Request, user_id: str) -> UserAnswer:
        changes = UserChanges(**self.body(UserUpdateBody).model_dump())
        return UserAnswer.of(services.update_user(by=self.caller.user, user_id=user_id, changes=changes))

    @operation("delete_user", "Delete a user", tag="Users", answer=Message, errors=(400, 404))
    def delete(self, request: Request, user_id: str) -> Message:
        services.delete_user(by=self.caller.user, user_id=user_id)
        return Message(message="User and related data deleted successfully")
